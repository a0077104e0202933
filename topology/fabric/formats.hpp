// topology/fabric/formats.hpp - the texts that a fabric can be read from, and which one a text is.
// One header and source a format; this one puts them side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

enum class FabricFormat : std::uint8_t {
    slurm_conf,     ///< topology.conf: SwitchName= or BlockName= lines; topograph writes it, too
    slurm_yaml,     ///< topology.yaml of SLURM 25.05 and later; topograph writes it, too
    ibnetdiscover,  ///< output of ibnetdiscover
    ib_subnet,      ///< netloc's ib-subnet-*.txt (ibnetdiscover -p): one line a port
    mpich_coordinates,  ///< rank: group switch port
    csv                 ///< host,switch[,gbytes_per_s[,latency_us]]: a table
};
std::string_view name_of(FabricFormat format);

/// Told by the text's first lines that say something; nothing if it is none of them.
std::optional<FabricFormat> fabric_format_of(std::string_view text);

/// `text` is not trusted. Errors: invalid_argument naming the line, what was found and what is
/// allowed.
Result<Fabric> fabric_from(std::string_view text, FabricFormat format);

}  // namespace gradcoll
