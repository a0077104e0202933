// fabric/fabric.hpp - what connects hosts, as a source describes it: switches, hosts and
// cables. Pure data; any graph, not yet a tree.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// Larger fabrics are refused, since their numbers are read from texts.
inline constexpr int max_fabric_nodes = 1 << 20;
inline constexpr int max_fabric_cables = 1 << 22;

struct Fabric {
    struct Node {
        std::string
            name;  ///< unique among switches, and among hosts; a host and a switch may share
        bool is_host = false;
    };
    /// A Cable is one cable; parallel cables are one entry each.
    struct Cable {
        int a = -1;  ///< index into nodes; the upper end if the fabric is rooted
        int b = -1;
        double gbytes_per_s = 0;  ///< in each direction; 0: not known
        double latency_us = 0;    ///< 0: not known
    };

    std::vector<Node> nodes;
    std::vector<Cable> cables;
    bool rooted = false;   ///< the source says what is above what (SLURM's files do, cables do not)
    bool by_rank = false;  ///< a host is named by the decimal number of its lowest rank (MPICH's
                           ///< coordinates, the probe), not by its host name
    std::vector<std::string> notes;  ///< for people: what the source left open and what was assumed
};

/// FabricBuilder builds a fabric from names. Nodes are numbered in the order of their first
/// mention. It takes no more memory than the limits above allow, whatever it is asked to add.
class FabricBuilder {
  public:
    int switch_named(std::string_view name);
    int host_named(std::string_view name);
    void add_cable(int a, int b, double gbytes_per_s = 0, double latency_us = 0);
    Fabric& fabric() { return fabric_; }
    /// Returns whether nodes, cables and names so far are within the limits. Once false, it stays
    /// false, further additions are dropped, and take() gives the reason: a parser may stop at
    /// once.
    bool within_limits() const { return trouble_.empty(); }
    /// Returns the fabric. Errors: invalid_argument if there is no host, a limit above is exceeded,
    /// or a name is empty or longer than max_name_bytes.
    Result<Fabric> take();

  private:
    int named(std::unordered_map<std::string, int>& ids, std::string_view name, bool is_host);
    void refuse(const std::string& found, const std::string& allowed);

    std::string trouble_;  ///< the first limit that was exceeded
    Fabric fabric_;
    std::unordered_map<std::string, int> switches_;
    std::unordered_map<std::string, int> hosts_;
};

}  // namespace gradcoll
