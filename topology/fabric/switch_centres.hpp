// topology/fabric/switch_centres.hpp - which switches are in the middle of a fabric whose source
// does not say what is on top.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "topology/fabric/switch_graph.hpp"

namespace gradcoll {

/// Not thread safe. One search is for all parts of a graph, so that memory is taken once and the
/// work is bounded for all of them together.
class CentreSearch {
  public:
    explicit CentreSearch(const SwitchGraph& graph)
        : graph_(graph),
          distance_(graph.size(), -1),
          at_least_(graph.size(), 0),
          looked_at_(graph.size(), false) {}

    /// Of the connected `part`, the vertices from which the farthest host is nearest; of those the
    /// ones with the smallest sum of distances to all hosts; of those the ones without hosts, if
    /// there are. If the graph is so large and so even that comparing all would take long, some of
    /// them. Needs a vertex with hosts; each part once.
    std::vector<int> centres_of(const std::vector<int>& part);

  private:
    struct Farthest {
        int vertex;  ///< has hosts
        int distance;
        std::int64_t sum;  ///< of the distances to all hosts
    };

    Farthest farthest_from(int start);
    void tighten(int with_hosts);
    std::optional<int> most_promising();
    void look_at(int vertex);
    std::vector<int> without_hosts_if_possible() const;

    const SwitchGraph& graph_;
    std::vector<int> part_;
    std::vector<int> distance_;  ///< from where the last search began
    std::vector<int> reached_;   ///< by it, in the order of distance
    std::vector<int> at_least_;  ///< no vertex is nearer to its farthest host than this
    std::vector<bool> looked_at_;
    std::size_t steps_ = 0;
    int best_distance_ = INT_MAX;
    std::int64_t best_sum_ = 0;
    std::vector<int> best_;
};

}  // namespace gradcoll
