// topology/fabric/slurm/slurm_fabric.hpp - what topology.conf and topology.yaml have in common:
// named switches (or blocks) with lists of what is below them. SLURM compares the words of its
// files as equal_ignoring_case() does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// One line of topology.conf, or one entry of topology.yaml, as written.
struct SlurmSwitch {
    std::string_view name;
    std::string_view switches;  ///< host list of the switches below; may be empty
    std::string_view nodes;     ///< host list of the hosts below, or ALL; may be empty
    double gbytes_per_s = 0;    ///< of the links to what is below; 0: not known
};

/// Builds a rooted fabric. Errors (invalid_argument) begin with "line N: ".
class SlurmFabric {
  public:
    Status add(const SlurmSwitch& entry, int line);
    /// For people; the same text is kept once.
    void note(std::string text);

    /// Notes the switches that are named below another one, but have no entry. A fabric without
    /// hosts is allowed if the file speaks of hosts that it does not name: an entry with ALL, or
    /// `flat`. Errors: no hosts at all.
    Result<Fabric> take(bool flat = false);

  private:
    Status add_children(int upper, std::string_view list, bool are_hosts, double gbytes_per_s);

    FabricBuilder fabric_;
    std::unordered_map<std::string, int> line_of_;  ///< of each switch that has an entry
    std::vector<std::string> named_below_;
    bool names_all_ = false;
};

/// SLURM leaves the unit of LinkSpeed open and makes no use of it. Read here: a number with a unit
/// (bit or byte a second: 100G, 100Gb/s, 100Gbit/s, 12.5GB/s, also with M and T); one without a
/// unit up to 1600 is Gbit/s. Nothing for any other text.
std::optional<double> gbytes_per_s_of_link_speed(std::string_view text);

}  // namespace gradcoll
