// call/blocking.hpp - operations from begin to end, while the caller waits.
#pragma once

#include "base/clock.hpp"
#include "call/call.hpp"
#include "call/residual_handle.hpp"
#include "ways/tree/tree_way.hpp"

namespace gradcoll {

/// Runs `run`, an allreduce that goes that way, and times it if it leaves the host and the
/// communicator wants that (CommContext::times()).
template <class Run>
Status run_timed(CommContext& context, const WayInfo& way, const CallShape& shape,
                 const CallKey& key, Run&& run) {
    if (!way.is_timed) return run();
    if (key.feedback) context.keep_plans();
    if (!context.times(shape.size_bytes())) return run();
    const std::uint64_t begin_ns = now_ns();
    const Status status = run();
    const Status learnt =
        context.add_timed_call({shape.size_bytes(), !key.compress, now_ns() - begin_ns},
                               &way == &mpi_way() ? TriedWay::mpi : TriedWay::ours);
    return status.ok() ? learnt : status;
}

/// Runs an admitted allreduce that does not pass, from and to any memory, counts it, and measures
/// its error if it is the turn of this call (which all ranks know alike).
Status run_allreduce(const Call& call);

/// Runs a reduction of floats whose result depends on nothing but the contributions
/// (gc_reproducible=anywhere), between vectors in host memory with as many elements as the call's
/// shape says. Errors: those of reduce_in_integers().
Status reduce_anywhere(const Call& call, const CallArguments& arguments);

/// Refuses the call on a rank that was admitted with the others, but cannot take part for the
/// reason `why`. Calls of other ranks that wait for this one end with peer_failed, naming it and
/// the reason, unless they wait in the MPI library.
void refuse_allreduce(const Call& call, const Status& why);

}  // namespace gradcoll
