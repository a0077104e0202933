// collectives/verify/verify.cpp - proves properties of all ranks' plans together.
#include "collectives/verify.hpp"

#include <fmt/format.h>

#include "collectives/verify/ensemble.hpp"

namespace gradcoll {
namespace {

using namespace verification;

Status check_agreement(const Tree& tree, std::span<const Plan> plans) {
    if (static_cast<int>(plans.size()) != tree.rank_count())
        return {Code::internal,
                fmt::format("{} plans for {} ranks", plans.size(), tree.rank_count())};
    const Plan& first = plans.front();
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        const Plan& plan = plans[rank];
        const bool same_place =
            plan.rank == static_cast<int>(rank) && plan.rank_count == tree.rank_count();
        const bool same_cut = plan.chunk_count == first.chunk_count &&
                              plan.body.count_elems == first.body.count_elems &&
                              plan.tail.count_elems == first.tail.count_elems;
        if (!same_place || !same_cut || plan.spec != first.spec ||
            plan.stage_count != first.stage_count)
            return {Code::internal,
                    fmt::format("rank {}: its plan is not of the same call as rank 0's", rank)};
    }
    return {};
}

Status check_chunk(std::span<const Plan> plans, bool tail) {
    const Plan& first = plans.front();
    Ensemble all{first.spec, first.rank_count, first.stage_count, {}};
    for (const Plan& plan : plans) all.schedules.push_back(tail ? &plan.tail : &plan.body);
    GRADCOLL_TRY(check_structure(all));
    GRADCOLL_TRY(check_ordering(all));
    const Result<std::vector<Event>> events = match_and_order(all);
    if (!events.ok()) return events.status();
    return check_contributions(all, *events);
}

/// Calls visit(vertex) for every vertex from the leaf of `rank` up to, and without, the one above
/// `other`, too.
template <class Visit>
void climb(const Tree& tree, int rank, int other, Visit visit) {
    std::vector<char> above(static_cast<std::size_t>(tree.vertex_count()), 0);
    for (int vertex : tree.path_up(other)) above[static_cast<std::size_t>(vertex)] = 1;
    for (int vertex = tree.leaf_of(rank); !above[static_cast<std::size_t>(vertex)];
         vertex = tree.vertex(vertex).parent)
        visit(static_cast<std::size_t>(vertex));
}

}  // namespace

Status verification::broken(int rank, std::uint32_t step, const std::string& what) {
    return {Code::internal, fmt::format("rank {} step {}: {}", rank, step, what)};
}

Status verify(const Tree& tree, std::span<const Plan> plans) {
    GRADCOLL_TRY(check_agreement(tree, plans));
    if (plans.front().chunk_count == 0) return {};
    GRADCOLL_TRY(check_chunk(plans, false));
    return plans.front().tail.count_elems > 0 ? check_chunk(plans, true) : Status{};
}

std::vector<LinkBytes> bytes_on_uplinks(const Tree& tree, std::span<const Plan> plans) {
    std::vector<LinkBytes> links(static_cast<std::size_t>(tree.vertex_count()));
    for (const Plan& plan : plans) {
        const std::vector<std::uint64_t> to_peers = bytes_to_peers(plan);
        for (int peer = 0; peer < plan.rank_count; ++peer) {
            const std::uint64_t bytes = to_peers[static_cast<std::size_t>(peer)];
            if (bytes == 0) continue;
            climb(tree, plan.rank, peer, [&](std::size_t vertex) { links[vertex].up += bytes; });
            climb(tree, peer, plan.rank, [&](std::size_t vertex) { links[vertex].down += bytes; });
        }
    }
    return links;
}

}  // namespace gradcoll
