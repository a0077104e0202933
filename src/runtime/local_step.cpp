#include "runtime/local_step.hpp"

#include <sched.h>

#include "base/clock.hpp"
#include "runtime/steps.hpp"

namespace gradcoll {
namespace {

TraceSpan span_of(const LocalStep& local, const LocalResult& result) {
    return {.name = name_of(local.kind()).data(),
            .begin_ns = result.begin_ns,
            .end_ns = result.end_ns,
            .bytes = local.bytes(),
            .peer = local.step->peer,
            .level = local.step->level,
            .chunk = local.chunk,
            .operation = local.operation->binding.sequence};
}

LocalResult run_now(const LocalStep& local) {
    const Operation& operation = *local.operation;
    LocalResult result;
    if (operation.timed) result.begin_ns = now_ns();
    result.status =
        local.decoded != nullptr
            ? run_decoded(*local.step, *local.view, operation, local.decoded)
            : run_local_step(*local.step, *local.view, operation, local.residual_first_elem);
    if (operation.timed) result.end_ns = now_ns();
    if (operation.trace) operation.trace->add(span_of(local, result));
    return result;
}

}  // namespace

void TakenSteps::wait() const {
    while (left_.load(std::memory_order_acquire) != 0) sched_yield();
}

LocalResult run_step(const LocalStep& local) {
    const bool idle = local.skipped || (local.taken && local.taken->dropped());
    LocalResult result = idle ? LocalResult() : run_now(local);
    if (local.taken) local.taken->has_run();  // the executor may end now
    return result;
}

}  // namespace gradcoll
