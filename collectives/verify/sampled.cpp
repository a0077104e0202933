// collectives/verify/sampled.cpp - what can be proved of some ranks' plans without all the others.
#include <fmt/format.h>

#include <map>

#include "collectives/verify/ensemble.hpp"
#include "collectives/verify/verify.hpp"

namespace gradcoll {
namespace {

using namespace verification;

/// The steps of one kind that name `peer`, by stage.
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

/// One direction, one chunk.
Status check_messages(const Plan& from, const Schedule& sender, const Plan& to,
                      const Schedule& receiver) {
    const auto sends = messages_with(sender, from.rank, StepKind::send, to.rank);
    if (!sends.ok()) return sends.status();
    const auto recvs = messages_with(receiver, to.rank, StepKind::recv, from.rank);
    if (!recvs.ok()) return recvs.status();
    for (const auto& [stage, step] : *sends)
        if (!recvs->contains(stage)) return broken(from.rank, step, "nobody receives");
    for (const auto& [stage, step] : *recvs) {
        const auto send = sends->find(stage);
        if (send == sends->end()) return broken(to.rank, step, "nobody sends this message");
        const std::string wrong = mismatch_of(sender.steps[send->second], sender, from.rank,
                                              receiver.steps[step], receiver, from.spec.elem_bytes);
        if (!wrong.empty()) return broken(to.rank, step, wrong);
    }
    return {};
}

Status check_alone(const Plan& plan, const Schedule& schedule) {
    const Solo solo{plan.spec, plan.rank_count, plan.stage_count, plan.rank, schedule};
    GRADCOLL_TRY(check_structure(solo));
    return check_ordering(solo);
}

}  // namespace

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
