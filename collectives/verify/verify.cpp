// collectives/verify/verify.cpp - proves properties of all ranks' plans together, and what can be
// proved of some of them without the others.
#include "collectives/verify/verify.hpp"

#include <fmt/format.h>

#include <map>

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
            plan.stage_count != first.stage_count || plan.loss_parts != first.loss_parts)
            return {Code::internal,
                    fmt::format("rank {}: its plan is not of the same call as rank 0's", rank)};
    }
    return {};
}

Status check_alone(const Plan& plan, const Schedule& schedule) {
    const Solo solo{plan.spec, plan.rank_count, plan.stage_count, plan.rank, schedule};
    GRADCOLL_TRY(check_structure(solo));
    return check_ordering(solo);
}

Status check_chunk(std::span<const Plan> plans, bool tail) {
    const Plan& first = plans.front();
    Ensemble all{first.spec, first.rank_count, first.stage_count, first.loss_parts.together, {}};
    for (const Plan& plan : plans) {
        const Schedule& schedule = tail ? plan.tail : plan.body;
        GRADCOLL_TRY(check_alone(plan, schedule));
        all.schedules.push_back(&schedule);
    }
    const std::vector<Event> events = GRADCOLL_VALUE(match_and_order(all));
    return check_contributions(all, events);
}

/// Returns the steps of one kind that name `peer`, by stage.
Result<std::map<int, std::uint32_t>> messages_with(const Schedule& schedule, int rank,
                                                   StepKind kind, int peer) {
    std::map<int, std::uint32_t> steps;
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (step.kind == kind && step.peer == peer && !steps.emplace(step.stage, i).second)
            return broken(rank, i, "a second message with the same peer and stage");
    }
    return steps;
}

/// Checks the messages of one direction and one chunk.
Status check_messages(const Plan& from, const Schedule& sender, const Plan& to,
                      const Schedule& receiver) {
    const auto sends = GRADCOLL_VALUE(messages_with(sender, from.rank, StepKind::send, to.rank));
    const auto recvs = GRADCOLL_VALUE(messages_with(receiver, to.rank, StepKind::recv, from.rank));
    for (const auto& [stage, step] : sends)
        if (!recvs.contains(stage)) return broken(from.rank, step, "nobody receives");
    for (const auto& [stage, step] : recvs) {
        const auto send = sends.find(stage);
        if (send == sends.end()) return broken(to.rank, step, "nobody sends this message");
        const std::string wrong = mismatch_of(sender.steps[send->second], sender, from.rank,
                                              receiver.steps[step], receiver, from.spec.elem_bytes);
        if (!wrong.empty()) return broken(to.rank, step, wrong);
    }
    return {};
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

Status verify_alone(const Plan& plan) {
    if (plan.chunk_count == 0) return {};
    GRADCOLL_TRY(check_alone(plan, plan.body));
    return plan.tail.count_elems > 0 ? check_alone(plan, plan.tail) : Status{};
}

Status verify_messages(const Plan& a, const Plan& b) {
    if (a.spec != b.spec || a.chunk_count != b.chunk_count || a.stage_count != b.stage_count)
        return {Code::internal, fmt::format("the plans of ranks {} and {} are not of the same call",
                                            a.rank, b.rank)};
    GRADCOLL_TRY(check_messages(a, a.body, b, b.body));
    GRADCOLL_TRY(check_messages(b, b.body, a, a.body));
    GRADCOLL_TRY(check_messages(a, a.tail, b, b.tail));
    return check_messages(b, b.tail, a, a.tail);
}

}  // namespace gradcoll
