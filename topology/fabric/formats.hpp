// topology/fabric/formats.hpp - the texts that a fabric can be read from, and which one a text is.
// One source a format.
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

// The formats that are files alone; those of SLURM are in slurm.hpp. `text` is not trusted.

/// Output of `ibnetdiscover`. A host is told by the first word of its adapters' description;
/// adapters without one (aggregation nodes, vendor names alone) are no hosts. Speeds are data
/// rates: 4xQDR is 4 GB/s, 4xNDR 50 GB/s. Errors: invalid_argument with the line.
Result<Fabric> fabric_from_ibnetdiscover(std::string_view text);

/// netloc's ib-subnet-*.txt, one line a port. Errors: as above.
Result<Fabric> fabric_from_ib_subnet(std::string_view text);

/// host,switch[,gbytes_per_s[,latency_us]] a line; a line whose first column is a switch
/// (`switch:NAME`, or a name that stands in the second column elsewhere) hangs that switch below
/// another. A heading line (host,switch,...), `#` comments and empty lines are skipped; host
/// columns may be host lists. Rooted. Errors: invalid_argument with the line.
Result<Fabric> fabric_from_csv(std::string_view text);

/// MPICH's MPIR_CVAR_COORDINATES_FILE: the first line is skipped, then `rank: group switch port`.
/// Switches are numbered within their group. The fabric is rooted and by_rank. Errors:
/// invalid_argument with the line.
Result<Fabric> fabric_from_mpich_coordinates(std::string_view text);

}  // namespace gradcoll
