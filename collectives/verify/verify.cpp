// collectives/verify/verify.cpp - proves properties of all ranks' plans together.
#include "collectives/verify/verify.hpp"

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
    for (int rank = 0; rank < all.rank_count; ++rank) {
        const Solo solo{all.spec, all.rank_count, all.stage_count, rank, all.schedule(rank)};
        GRADCOLL_TRY(check_structure(solo));
        GRADCOLL_TRY(check_ordering(solo));
    }
    const Result<std::vector<Event>> events = match_and_order(all);
    if (!events.ok()) return events.status();
    return check_contributions(all, *events);
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

}  // namespace gradcoll
