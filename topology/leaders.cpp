#include "topology/derived_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradcoll {
namespace {

/// RanksByHost holds how many ranks each host has below a vertex, by leader.
using RanksByHost = std::map<int, int>;

/// Returns the ranks below each vertex. Children have higher numbers than their parents.
std::vector<RanksByHost> ranks_below(const Tree& tree, std::span<const int> leader_of) {
    std::vector<RanksByHost> below(static_cast<std::size_t>(tree.vertex_count()));
    for (int id = tree.vertex_count() - 1; id >= 0; --id) {
        const Vertex& vertex = tree.vertex(id);
        RanksByHost& here = below[static_cast<std::size_t>(id)];
        if (vertex.rank >= 0) here[leader_of[static_cast<std::size_t>(vertex.rank)]] = 1;
        for (const int child : vertex.children)
            for (const auto& [leader, ranks] : below[static_cast<std::size_t>(child)])
                here[leader] += ranks;
    }
    return below;
}

int common_vertex(const Tree& tree, int rank, int other) {
    const Vertex& leaf = tree.vertex(tree.leaf_of(other));
    int id = tree.leaf_of(rank);
    while (tree.vertex(id).first_leaf > leaf.first_leaf ||
           tree.vertex(id).first_leaf + tree.vertex(id).leaf_count <= leaf.first_leaf)
        id = tree.vertex(id).parent;
    return id;
}

}  // namespace

std::vector<int> leaders_in(std::span<const int> leader_of) {
    std::vector<int> leaders(leader_of.begin(), leader_of.end());
    std::sort(leaders.begin(), leaders.end());
    leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
    return leaders;
}

Result<Tree> tree_of_leaders(const Tree& tree, std::span<const int> leader_of) {
    const std::vector<RanksByHost> below = ranks_below(tree, leader_of);
    const RanksByHost& all = below.front();
    for (const RanksByHost& here : below)
        if (here.size() > 1 && std::any_of(here.begin(), here.end(), [&](const auto& host) {
                return host.second < all.at(host.first);
            }))
            return Status(Code::unsupported,
                          "topology: the tree puts ranks of one host among those of others");
    return tree.pruned(leaders_in(leader_of));
}

int vertex_of_leaders(const Tree& tree, const Tree& leaders_tree, std::span<const int> leaders,
                      int vertex) {
    const Vertex& of_leaders = leaders_tree.vertex(vertex);
    const auto leader_at = [&](int position) {
        return leaders[static_cast<std::size_t>(leaders_tree.rank_at(position))];
    };
    return common_vertex(tree, leader_at(of_leaders.first_leaf),
                         leader_at(of_leaders.first_leaf + of_leaders.leaf_count - 1));
}

}  // namespace gradcoll
