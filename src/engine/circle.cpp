#include "engine/circle.hpp"

#include <algorithm>

#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

std::vector<int> ranks_below(const Tree& tree, int vertex) {
    const Vertex& at = tree.vertex(vertex);
    std::vector<int> ranks;
    for (int leaf = 0; leaf < at.leaf_count; ++leaf)
        ranks.push_back(tree.rank_at(at.first_leaf + leaf));
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

/// Returns the ranks of each host; the host of the lowest rank is first.
std::vector<std::vector<int>> hosts_of(const Tree& tree) {
    std::vector<std::vector<int>> hosts;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex)
        if (is_host(tree, vertex)) hosts.push_back(ranks_below(tree, vertex));
    std::sort(hosts.begin(), hosts.end());
    return hosts;
}

}  // namespace

Circle flat_circle(int rank, int rank_count) {
    if (rank > 0) return {0, {{rank, 1}}};
    Circle circle;
    for (int member = 0; member < rank_count; ++member) circle.members.push_back({member, 1});
    return circle;
}

Circle circle_of_hosts(const Tree& tree, int rank) {
    const std::vector<std::vector<int>> hosts = hosts_of(tree);
    std::size_t ranks_on_hosts = 0;
    for (const auto& ranks : hosts) ranks_on_hosts += ranks.size();
    if (ranks_on_hosts != static_cast<std::size_t>(tree.rank_count()))
        return flat_circle(rank, tree.rank_count());
    const auto own = std::find_if(hosts.begin(), hosts.end(), [&](const auto& ranks) {
        return std::binary_search(ranks.begin(), ranks.end(), rank);
    });
    const int leader = own->front();
    if (rank != leader) return {leader, {{rank, 1}}};
    Circle circle;
    circle.parent = rank == 0 ? -1 : 0;
    for (const int member : *own) circle.members.push_back({member, 1});
    if (rank > 0) return circle;
    for (const auto& ranks : hosts)
        if (ranks.front() != 0)
            circle.members.push_back({ranks.front(), static_cast<int>(ranks.size())});
    return circle;
}

}  // namespace gradcoll
