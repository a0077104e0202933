#include "topology/fabric/switch_levels.hpp"

#include <algorithm>
#include <string>

#include "topology/fabric/switch_centres.hpp"

namespace gradcoll {
namespace {

/// The vertices of each part that has hosts.
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

/// There is no cycle: switch_graph() has refused that.
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
