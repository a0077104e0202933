// call/blocking.hpp - operations from begin to end, while the caller waits.
#pragma once

#include "base/clock.hpp"
#include "call/call.hpp"
#include "call/residual.hpp"

namespace gradcoll {

/// What few operations have.
struct BlockingExtras {
    Residual* residual = nullptr;             ///< goes with keys that have feedback
    std::shared_ptr<DeviceSide> device = {};  ///< that the binding's memory is on; null: the host
    const Status* refusal = nullptr;          ///< as in a Binding
};

/// Begins the operation on the tree, makes progress (also of persistent requests that are started,
/// so that no rank waits for another in vain) until it is complete, and counts it. The binding's
/// sequence and residual are filled in. Errors: those of the executor; invalid_argument if the
/// residual does not fit.
Status run_blocking(CommContext& context, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras = {});

/// `run` is an allreduce over the tree or through hosts, which is timed if the communicator wants
/// that (CommContext::times()).
template <class Run>
Status run_timed(CommContext& context, const CallShape& shape, const CallKey& key, Run&& run,
                 TriedWay way = TriedWay::ours) {
    if (key.feedback) context.keep_plans();
    if (!context.times(shape.size_bytes())) return run();
    const std::uint64_t begin_ns = now_ns();
    const Status status = run();
    const Status learnt =
        context.add_timed_call({shape.size_bytes(), !key.compress, now_ns() - begin_ns}, way);
    return status.ok() ? learnt : status;
}

/// Runs an admitted allreduce that does not pass, from and to any memory, counts it, and measures
/// its error if it is the turn of this call (which all ranks know alike).
Status run_allreduce(const Call& call);

/// By a rank that was admitted with the others, but cannot take part for the reason `why`: those
/// that wait for it end with peer_failed, naming it and the reason, where it is not the MPI library
/// that they wait in.
void refuse_allreduce(const Call& call, const Status& why);

}  // namespace gradcoll
