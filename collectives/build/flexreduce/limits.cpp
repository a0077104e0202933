// collectives/build/flexreduce/limits.cpp - says which trees and specs flexreduce can plan.
#include "collectives/build/flexreduce/flexreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/refusals.hpp"
#include "collectives/exchange/exchange.hpp"

namespace gradcoll {
namespace {

constexpr int most_stages = std::numeric_limits<std::uint16_t>::max();
constexpr int max_peers = 32767;  // a step may wait for two messages of each peer; Step counts to
                                  // 65535
constexpr int max_height = std::numeric_limits<std::uint8_t>::max();

/// Checks single exchanges: one leaves the sum with all holders, so nothing above may split it
/// among them, nobody owns it who could encode it for the others, and nothing is left to gather.
Status check_single(const Tree& tree, const PlanSpec& spec) {
    for (const int vertex : tree.inner_vertices()) {
        const VertexChoice choice = spec.choices.of(vertex);
        if (choice.exchange != Exchange::single) continue;
        if (spec.collective != Collective::allreduce)
            return invalid("a single exchange is for allreduce only, not {}",
                           name_of(spec.collective));
        if (spec.feedback) return invalid("a single exchange cannot have feedback");
        if (choice.codec != CodecId::exact)
            return invalid("a single exchange must be exact, not {}", name_of(choice.codec));
        const int above = tree.vertex(vertex).parent;
        if (above >= 0 && spec.choices.of(above).exchange != Exchange::single)
            return invalid("a single exchange must have none but single ones above it, not {}",
                           name_of(spec.choices.of(above).exchange));
    }
    return {};
}

/// Shares are the largest and the smallest part of the vector that a leaf of a subtree owns.
struct Shares {
    double most = 1;
    double least = 1;
};

/// Returns the largest sum of degrees on the way from a rank to the root.
int most_degrees_above(const Tree& tree) {
    const auto shapes = tree.vertex_of_shape();
    std::vector<int> sums(shapes.size(), 0);
    for (std::size_t shape = 1; shape < shapes.size(); ++shape) {
        for (const int child : tree.children(shapes[shape]))
            sums[shape] =
                std::max(sums[shape], sums[static_cast<std::size_t>(tree.vertex(child).shape)]);
        sums[shape] += static_cast<int>(tree.children(shapes[shape]).size());
    }
    return sums.back();
}

/// Returns a bound of the peers if granules are dealt. Of the granules that a rank owns before a
/// vertex of degree d, it sends all but a d-th part, rounded up, to one peer each, and receives
/// that part from d - 1: fewer than twice the granules, plus d. It owns at most half as many at
/// each further vertex.
double most_peers_dealt(const Tree& tree, const PlanSpec& spec) {
    if (!spec.dealt) return std::numeric_limits<double>::infinity();
    const std::int64_t chunk = spec.chunk_elems > 0 ? spec.chunk_elems : spec.count_elems;
    const std::int64_t granules = chunk / spec.granule_elems + 1;
    return 4.0 * static_cast<double>(granules) + most_degrees_above(tree);
}

/// Returns a bound of the peers of any one rank, from the shapes alone, so that all ranks agree on
/// it. A window of `most` meets about most / least owners in another branch; overlays can cut that
/// finer, so 1.5 times as many, and two more, are counted.
double most_peers(const Tree& tree, const PlanSpec& spec) {
    // Below other single exchanges one holder may have to send to all holders of another branch,
    // and each rank's block goes to or comes from all that have a share of it.
    if (spec.choices.of(tree.root()).exchange == Exchange::single || is_in_blocks(spec))
        return tree.rank_count();
    const auto shapes = tree.vertex_of_shape();
    std::vector<Shares> shares(shapes.size());
    std::vector<double> peers(shapes.size(), 0);
    for (std::size_t shape = 1; shape < shapes.size(); ++shape) {
        const auto children = tree.children(shapes[shape]);
        Shares all{0, 1};
        double below = 0;
        for (const int child : children) {
            const auto of = static_cast<std::size_t>(tree.vertex(child).shape);
            all = {std::max(all.most, shares[of].most), std::min(all.least, shares[of].least)};
            below = std::max(below, peers[of]);
        }
        double here = 0;
        for (const int child : children) {
            const Vertex& branch = tree.vertex(child);
            const double least = shares[static_cast<std::size_t>(branch.shape)].least;
            here += std::min(static_cast<double>(branch.leaf_count), 1.5 * all.most / least + 2);
        }
        const auto degree = static_cast<double>(children.size());
        shares[shape] = {all.most / degree, all.least / degree};
        peers[shape] = below + here;
    }
    return std::min(
        {peers.back(), most_peers_dealt(tree, spec), static_cast<double>(tree.rank_count())});
}

/// Checks that steps can number everything.
Status check_limits(const Tree& tree, const PlanSpec& spec) {
    if (tree.height() > max_height)
        return {Code::unsupported,
                fmt::format("the tree is {} levels high: at most {}", tree.height(), max_height)};
    if (tree.rank_count() > max_peers && most_peers(tree, spec) > max_peers)
        return {Code::unsupported,
                fmt::format("a rank of this tree may have {:.0f} peers: at most {}",
                            most_peers(tree, spec), max_peers)};
    const int stages = flexreduce_stage_count(tree, spec);
    if (stages > most_stages)
        return {Code::unsupported, fmt::format("a ring of this tree takes {} stages: at most {}",
                                               stages, most_stages)};
    return {};
}

}  // namespace

Status check_planned(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_single(tree, spec));
    return check_limits(tree, spec);
}

}  // namespace gradcoll
