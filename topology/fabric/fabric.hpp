// topology/fabric/fabric.hpp - what connects hosts, as a source tells it: switches, hosts and
// cables. Pure data; any graph, not yet a tree.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// More than these are refused: their numbers are read from texts.
inline constexpr int max_fabric_nodes = 1 << 20;
inline constexpr int max_fabric_cables = 1 << 22;

struct Fabric {
    struct Node {
        std::string
            name;  ///< unique among switches, and among hosts; a host and a switch may share
        bool is_host = false;
    };
    /// Parallel cables are one entry each.
    struct Cable {
        int a = -1;  ///< index into nodes; the upper end if the fabric is rooted
        int b = -1;
        double gbytes_per_s = 0;  ///< each direction; 0: not known
        double latency_us = 0;    ///< 0: not known
    };

    std::vector<Node> nodes;
    std::vector<Cable> cables;
    bool rooted = false;   ///< the source says what is above what (SLURM's files do, cables do not)
    bool by_rank = false;  ///< a host is named by the decimal number of its lowest rank (MPICH's
                           ///< coordinates, the probe), not by its host name
    std::vector<std::string> notes;  ///< what the source left open and what was assumed, for people
};

/// Grows a fabric by names. Nodes are numbered in the order of their first mention. Takes no more
/// memory than the limits above allow, whatever it is asked to add.
class FabricBuilder {
  public:
    int switch_named(std::string_view name);
    int host_named(std::string_view name);
    void add_cable(int a, int b, double gbytes_per_s = 0, double latency_us = 0);
    Fabric& fabric() { return fabric_; }
    /// Nodes, cables and names so far are within the limits. Once it is false it stays false, what
    /// is added is dropped, and take() says why: a parser may stop at once.
    bool within_limits() const { return trouble_.empty(); }
    /// Errors: invalid_argument if there is no host, a limit above is passed, or a name is empty or
    /// longer than max_name_bytes.
    Result<Fabric> take();

  private:
    int named(std::unordered_map<std::string, int>& ids, std::string_view name, bool is_host);
    void refuse(const std::string& found, const std::string& allowed);

    std::string trouble_;  ///< the first limit that was passed
    Fabric fabric_;
    std::unordered_map<std::string, int> switches_;
    std::unordered_map<std::string, int> hosts_;
};

}  // namespace gradcoll
