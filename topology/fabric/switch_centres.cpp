// The centre of a graph without searching from each vertex: a search from a host far away tells
// from below how far each vertex is from its farthest host; only the most promising vertices are
// looked at. Source of the idea: Takes and Kosters, "Computing the eccentricity distribution of
// large graphs", Algorithms 6 (2013).
#include "topology/fabric/switch_centres.hpp"

#include <algorithm>
#include <tuple>

namespace gradcoll {
namespace {

/// Steps along links that all searches of a fabric may take together: about 0.1 s.
constexpr std::size_t most_steps = 1 << 25;

}  // namespace

std::vector<int> CentreSearch::centres_of(const std::vector<int>& part) {
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

CentreSearch::Farthest CentreSearch::farthest_from(int start) {
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

/// Nothing is nearer to its farthest host than to this one.
void CentreSearch::tighten(int with_hosts) {
    farthest_from(with_hosts);
    for (const int vertex : part_)
        at_least_[at(vertex)] = std::max(at_least_[at(vertex)], distance_[at(vertex)]);
}

std::optional<int> CentreSearch::most_promising() {
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

void CentreSearch::look_at(int vertex) {
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

std::vector<int> CentreSearch::without_hosts_if_possible() const {
    std::vector<int> bare = best_;
    std::erase_if(bare, [&](int vertex) { return graph_.host_count[at(vertex)] > 0; });
    return bare.empty() ? best_ : bare;
}

}  // namespace gradcoll
