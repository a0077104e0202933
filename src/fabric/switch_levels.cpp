#include "fabric/switch_levels.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace gradcoll {
namespace {

/// All searches of a fabric together take at most this many steps along links: about 0.1 s.
constexpr std::size_t most_steps = 1 << 25;

/// CentreSearch finds the switches in the middle of a fabric whose source does not say what is on
/// top, without searching from each vertex. A search from a host far away gives, for each vertex, a
/// lower bound of the distance to its farthest host; only the most promising vertices are looked
/// at. Source of the idea: Takes and Kosters, "Computing the eccentricity distribution of large
/// graphs", Algorithms 6 (2013).
///
/// Not thread safe. One object serves all parts of a graph, so that memory is allocated once and
/// the work is bounded for all of them together.
class CentreSearch {
  public:
    explicit CentreSearch(const SwitchGraph& graph)
        : graph_(graph),
          distance_(graph.size(), -1),
          at_least_(graph.size(), 0),
          looked_at_(graph.size(), false) {}

    /// Returns the vertices of the connected `part` whose farthest host is nearest; among these the
    /// ones with the smallest sum of distances to all hosts; among these the ones without hosts, if
    /// there are any. If the graph is so large and so even that comparing all would take long, it
    /// returns some of them. The part must have a vertex with hosts; each part is searched once.
    std::vector<int> centres_of(const std::vector<int>& part) {
        part_ = part;
        best_distance_ = INT_MAX;
        best_sum_ = 0;
        best_.clear();
        const int start = *std::max_element(part_.begin(), part_.end(), [&](int x, int y) {
            return graph_.host_count[at(x)] < graph_.host_count[at(y)];
        });
        tighten(farthest_from(start).vertex);
        while (const auto next = most_promising()) {
            look_at(*next);
            if (steps_ > most_steps) break;
        }
        return without_hosts_if_possible();
    }

  private:
    struct Farthest {
        int vertex;  ///< a vertex with hosts
        int distance;
        std::int64_t sum;  ///< sum of the distances to all hosts
    };

    Farthest farthest_from(int start) {
        for (const int vertex : part_) distance_[at(vertex)] = -1;
        distance_[at(start)] = 0;
        reached_.assign(1, start);
        Farthest result = {start, -1, 0};
        for (std::size_t next = 0; next < reached_.size(); ++next) {
            const int vertex = reached_[next], distance = distance_[at(vertex)];
            result.sum += std::int64_t{graph_.host_count[at(vertex)]} * distance;
            if (graph_.host_count[at(vertex)] > 0 && distance > result.distance)
                std::tie(result.vertex, result.distance) = std::tie(vertex, distance);
            for (const SwitchGraph::Neighbour& neighbour : graph_.neighbours(vertex)) {
                ++steps_;
                if (distance_[at(neighbour.vertex)] >= 0) continue;
                distance_[at(neighbour.vertex)] = distance + 1;
                reached_.push_back(neighbour.vertex);
            }
        }
        return result;
    }

    /// Raises the lower bounds by the distances from this vertex: no vertex is nearer to its
    /// farthest host than to this one.
    void tighten(int with_hosts) {
        farthest_from(with_hosts);
        for (const int vertex : part_)
            at_least_[at(vertex)] = std::max(at_least_[at(vertex)], distance_[at(vertex)]);
    }

    std::optional<int> most_promising() {
        const auto order = [&](int vertex) {
            return std::tuple(at_least_[at(vertex)], graph_.host_count[at(vertex)] > 0,
                              -graph_.host_count[at(vertex)]);
        };
        int best = -1;
        steps_ += part_.size();
        for (const int vertex : part_) {
            if (looked_at_[at(vertex)] || at_least_[at(vertex)] > best_distance_) continue;
            if (best < 0 || order(vertex) < order(best)) best = vertex;
        }
        return best < 0 ? std::nullopt : std::optional(best);
    }

    void look_at(int vertex) {
        looked_at_[at(vertex)] = true;
        const Farthest found = farthest_from(vertex);
        if (std::tie(found.distance, found.sum) < std::tie(best_distance_, best_sum_)) {
            best_.clear();
            std::tie(best_distance_, best_sum_) = std::tie(found.distance, found.sum);
        }
        if (std::tie(found.distance, found.sum) == std::tie(best_distance_, best_sum_))
            best_.push_back(vertex);
        if (found.distance > at_least_[at(vertex)]) tighten(found.vertex);
    }

    std::vector<int> without_hosts_if_possible() const {
        std::vector<int> bare = best_;
        std::erase_if(bare, [&](int vertex) { return graph_.host_count[at(vertex)] > 0; });
        return bare.empty() ? best_ : bare;
    }

    const SwitchGraph& graph_;
    std::vector<int> part_;
    std::vector<int> distance_;  ///< from the start of the last search
    std::vector<int> reached_;   ///< vertices that it reached, in the order of distance
    std::vector<int> at_least_;  ///< lower bound of the distance to the farthest host
    std::vector<bool> looked_at_;
    std::size_t steps_ = 0;
    int best_distance_ = INT_MAX;
    std::int64_t best_sum_ = 0;
    std::vector<int> best_;
};

/// Returns the vertices of each part that has hosts.
std::vector<std::vector<int>> parts_of(const SwitchGraph& graph) {
    std::vector<std::vector<int>> parts;
    std::vector<bool> seen(graph.size(), false);
    for (int start = 0; start < static_cast<int>(graph.size()); ++start) {
        if (seen[at(start)]) continue;
        std::vector<int> part = {start};
        seen[at(start)] = true;
        bool has_hosts = false;
        for (std::size_t next = 0; next < part.size(); ++next) {
            has_hosts = has_hosts || graph.host_count[at(part[next])] > 0;
            for (const SwitchGraph::Neighbour& neighbour : graph.neighbours(part[next])) {
                if (seen[at(neighbour.vertex)]) continue;
                seen[at(neighbour.vertex)] = true;
                part.push_back(neighbour.vertex);
            }
        }
        if (has_hosts) parts.push_back(std::move(part));
    }
    return parts;
}

void shortest_ways(const SwitchGraph& graph, std::vector<int> tops, std::vector<int>& level) {
    for (const int top : tops) level[at(top)] = 0;
    for (std::size_t next = 0; next < tops.size(); ++next)
        for (const SwitchGraph::Neighbour& neighbour : graph.neighbours(tops[next])) {
            if (level[at(neighbour.vertex)] >= 0) continue;
            level[at(neighbour.vertex)] = level[at(tops[next])] + 1;
            tops.push_back(neighbour.vertex);
        }
}

/// Sets each level to the longest way from the top. There is no cycle: switch_graph() has refused
/// that.
void longest_ways(const SwitchGraph& graph, const std::vector<int>& part, std::vector<int>& level) {
    std::vector<int> above_left(graph.size(), 0), done;
    for (const SwitchGraph::Link& link : graph.links) ++above_left[at(link.b)];
    for (const int vertex : part)
        if (above_left[at(vertex)] == 0) done.push_back(vertex);
    for (const int top : done) level[at(top)] = 0;
    for (std::size_t next = 0; next < done.size(); ++next)
        for (const SwitchGraph::Neighbour& neighbour : graph.neighbours(done[next])) {
            if (graph.links[at(neighbour.link)].b != neighbour.vertex) continue;
            level[at(neighbour.vertex)] =
                std::max(level[at(neighbour.vertex)], level[at(done[next])] + 1);
            if (--above_left[at(neighbour.vertex)] == 0) done.push_back(neighbour.vertex);
        }
}

}  // namespace

Result<SwitchLevels> switch_levels(const SwitchGraph& graph, bool rooted) {
    SwitchLevels result;
    result.level.assign(graph.size(), -1);
    result.part.assign(graph.size(), -1);
    std::vector<int> all;
    CentreSearch search(graph);
    for (const std::vector<int>& part : parts_of(graph)) {
        for (const int vertex : part) result.part[at(vertex)] = result.part_count;
        ++result.part_count;
        if (!rooted) shortest_ways(graph, search.centres_of(part), result.level);
        all.insert(all.end(), part.begin(), part.end());
    }
    if (rooted) longest_ways(graph, all, result.level);
    const auto deepest = std::max_element(result.level.begin(), result.level.end());
    if (deepest != result.level.end() && *deepest >= max_switch_levels)
        return Status(Code::invalid_argument, "the fabric has " + std::to_string(*deepest + 1) +
                                                  " levels of switches, allowed are up to " +
                                                  std::to_string(max_switch_levels));
    return result;
}

}  // namespace gradcoll
