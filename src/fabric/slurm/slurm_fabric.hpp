// fabric/slurm/slurm_fabric.hpp - what topology.conf and topology.yaml share: named
// switches (or blocks) with lists of what is below them. SLURM compares the words of its files as
// equal_ignoring_case() does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace gradcoll {

/// A SlurmSwitch is one line of topology.conf, or one entry of topology.yaml, as written.
struct SlurmSwitch {
    std::string_view name;
    std::string_view switches;  ///< host list of the switches below; may be empty
    std::string_view nodes;     ///< host list of the hosts below, or ALL; may be empty
    double gbytes_per_s = 0;    ///< rate of the links to what is below; 0: not known
};

/// SlurmFabric builds a rooted fabric. Errors (invalid_argument) begin with "line N: ".
class SlurmFabric {
  public:
    Status add(const SlurmSwitch& entry, int line);
    /// Adds a note for people; the same text is kept once.
    void note(std::string text);

    /// Returns the fabric. Adds a note on switches that are named below another one, but have no
    /// entry. A fabric without hosts is allowed if the file mentions hosts without naming them: an
    /// entry with ALL, or `flat`. Errors: no hosts at all.
    Result<Fabric> take(bool flat = false);

  private:
    Status add_children(int upper, std::string_view list, bool are_hosts, double gbytes_per_s);

    FabricBuilder fabric_;
    std::unordered_map<std::string, int> line_of_;  ///< by switch that has an entry
    std::vector<std::string> named_below_;
    bool names_all_ = false;
};

/// Reads a LinkSpeed, whose unit SLURM leaves open and does not use: a number with a unit (bit or
/// byte a second: 100G, 100Gb/s, 100Gbit/s, 12.5GB/s, also with M and T); one without a unit up to
/// 1600 is Gbit/s. Returns nothing for any other text.
std::optional<double> gbytes_per_s_of_link_speed(std::string_view text);

}  // namespace gradcoll
