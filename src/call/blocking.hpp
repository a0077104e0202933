// call/blocking.hpp - calls from begin to end, while the caller waits, each by the way of its
// route: allreduces (blocking.cpp; packed_allreduce.cpp), those in MPI's block layout or with a
// root (blocks.cpp).
#pragma once

#include <utility>

#include "base/clock.hpp"
#include "call/call.hpp"
#include "call/residual_handle.hpp"
#include "ways/tree/tree_way.hpp"

namespace gradcoll {

/// Runs `run`, and times it for the communicator if that wants it (CommContext::times()). `call` is
/// what is known of it before.
template <class Run>
Status run_timed(CommContext& context, const WayInfo& way, const CallKey& key, LongCall call,
                 Run&& run) {
    if (!context.times(call.vector_bytes)) return run();
    call.exact = !key.compress;
    const std::uint64_t begin_ns = now_ns();
    const Status status = run();
    call.elapsed_ns = now_ns() - begin_ns;
    const Status learnt =
        context.add_timed_call(call, &way == &mpi_way() ? TriedWay::other : TriedWay::ours);
    return status.ok() ? learnt : status;
}

/// Runs `run`, an allreduce that goes that way, and times it if it leaves the host.
template <class Run>
Status run_timed(CommContext& context, const WayInfo& way, const CallShape& shape,
                 const CallKey& key, Run&& run) {
    if (!way.is_timed) return run();
    const bool zips_otherwise = key.zips == Zips::no_links || key.zips == Zips::faster_links;
    return run_timed(context, way, key,
                     LongCall{.vector_bytes = shape.size_bytes(),
                              .may_zip = key.zips != Zips::nothing,
                              .zips_otherwise = zips_otherwise},
                     std::forward<Run>(run));
}

/// Runs `run`, an allreduce of all ranks of the communicator. If survivors agree on sums, returns
/// the status that they agree on.
template <class Run>
Status run_agreed(const CommContext& context, Run&& run) {
    if (context.verdicts() == nullptr) return run();
    PendingVerdict verdict(context.verdicts());
    return verdict.settled(run());
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
/// the reason, unless they wait in the MPI library. Takes no part in the verdict on the call.
void refuse_allreduce(const Call& call, const Status& why);

/// Runs and counts an admitted blocking call that does not pass.
Status run_call(const Call& call);

/// Does what refuse_allreduce() or refuse_nonblocking() does, for a call of any kind, and takes
/// part in the verdict on it. For a request that is set up for an unchanged program it does what
/// agree_on_arguments() does.
void refuse_call(const Call& call, const Status& why);

/// Runs the call on host memory, over one host; what lies in the gaps of the result's datatype
/// stays as it is. Allocates for vectors of more than 1 KiB. Errors: those of OneHost::allreduce()
/// and pack(), and out_of_memory; the other ranks are told.
Status run_packed_on_host(CommContext& context, const CallArguments& arguments,
                          const CallShape& shape);
/// Runs an admitted call, whose buffers may be in any memory. Errors: those of run_packed_on_host()
/// and of devices.
Status run_packed(const Call& call);

}  // namespace gradcoll
