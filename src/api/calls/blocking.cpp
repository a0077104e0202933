#include "api/calls/blocking.hpp"

#include <sched.h>

#include "api/comm/started_calls.hpp"

namespace gradcoll {
namespace {

Status wait_with_others(Executor& executor) {
    for (;;) {
        const auto progress = executor.advance();
        if (!progress) return progress.status();
        if (*progress == Progress::complete) return {};
        if (*progress == Progress::idle && !advance_started_calls()) sched_yield();
    }
}

Status start_and_wait(Executor& executor, const Binding& binding) {
    GRADCOLL_TRY(executor.start(binding));
    return any_started_calls() ? wait_with_others(executor) : executor.wait();
}

}  // namespace

Status run_blocking(CommContext& context, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras) {
    auto lease = context.begin(kind, key, extras.device);
    if (!lease) return lease.status();
    if (extras.residual != nullptr) {
        GRADCOLL_TRY(extras.residual->check_fits(*lease->call));
        const auto values = extras.residual->data_for(extras.device);
        if (!values) return values.status();
        binding.residual = *values;
    }
    binding.sequence = lease->sequence;
    const Status status = start_and_wait(*lease->executor, binding);
    context.end(std::move(lease).value(), status);
    return status;
}

}  // namespace gradcoll
