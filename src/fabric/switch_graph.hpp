// fabric/switch_graph.hpp - a fabric with its rails joined, which switch_tree() works on.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// SwitchGraph numbers vertices and nodes with ints, since -1 stands for none.
struct SwitchGraph {
    /// A Link is all cables between two vertices together.
    struct Link {
        int a = -1;  ///< the upper one if the fabric is rooted
        int b = -1;
        int cables = 0;
        Uplink speed;  ///< the sum of the known bandwidths, the longest known latency
    };
    struct Neighbour {
        int vertex;
        int link;  ///< index into links
    };
    struct Place {
        int vertex;
        Uplink speed;
    };
    struct Host {
        int node;                   ///< index into Fabric::nodes
        std::vector<Place> places;  ///< more than one if it is on switches that are not joined;
                                    ///< empty: nothing connects it
    };

    std::vector<std::vector<int>> members;  ///< by vertex: indices into Fabric::nodes
    std::vector<int> host_count;            ///< by vertex
    std::vector<Link> links;
    std::vector<Host> hosts;
    std::vector<std::string> notes;

    std::size_t size() const { return members.size(); }
    std::span<const Neighbour> neighbours(int vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        return {neighbours_.data() + first_[v], first_[v + 1] - first_[v]};
    }

    /// Computes from links what neighbours() returns.
    void index_links();

  private:
    std::vector<std::size_t> first_;
    std::vector<Neighbour> neighbours_;
};

/// Joins two ways in parallel: bandwidths add up, the longer latency counts.
void add_parallel(Uplink& sum, const Uplink& more);
/// Sorts by vertex, and merges ways to the same vertex.
void merge_places(std::vector<SwitchGraph::Place>& places);

/// Builds the graph. Two switches that share at least half of the hosts of each become one vertex
/// (rails); a few hosts with cables to two places (storage, gateways) join nothing. In a rooted
/// fabric a host is only on the lowest of the switches that name it. Cables between hosts are left
/// out, with a note. Errors: invalid_argument naming the switches of a cycle in a rooted fabric.
Result<SwitchGraph> switch_graph(const Fabric& fabric);

}  // namespace gradcoll
