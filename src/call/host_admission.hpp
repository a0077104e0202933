// call/host_admission.hpp - a barrier, broadcast or reduce on its way in: the same order as of
// other calls (call.hpp), but where it goes is a question of its communicator alone.
#pragma once

#include <memory>

#include "call/call.hpp"

namespace gradcoll {

/// One call as the program made it.
struct HostCall {
    const Entry* entry = nullptr;  ///< its kind is barrier, bcast or reduce; outlives the call
    /// Of a broadcast: `recvbuf` is the buffer, in place. Of a barrier: nothing but the
    /// communicator, which is not null.
    CallArguments arguments;
    int root = 0;
};

/// What became of it: an error, a reason to pass it, or what serving it needs.
struct AdmittedHostCall {
    Status error;
    /// Not ok: this rank's buffers alone are wrong; the others, which wait, are to be told.
    Status refusal;
    PassReason pass_reason = PassReason::none;
    std::shared_ptr<CommContext> context;  ///< null if its communicator has none
    CallShape shape;                       ///< bytes, but of a reduce
    CallMemory memory;
};
AdmittedHostCall admit_host_call(const HostCall& call);

/// What the MPI library does faster passes; none: nothing speaks against shared memory.
inline PassReason reason_by_size(const HostCall& call, std::uint64_t size_bytes, int rank_count) {
    const CallKind kind = call.entry->kind;
    if (kind == CallKind::barrier) return PassReason::none;
    if (size_bytes == 0) return PassReason::empty_vector;
    const bool is_good = kind == CallKind::bcast
                             ? OneHost::is_good_for_bcast(size_bytes, rank_count)
                             : OneHost::is_good_for_reduce(size_bytes, rank_count);
    return is_good ? PassReason::none : PassReason::slower_on_one_host;
}

/// Its shape if the type (and op) have one whose handles this thread knows for good; passes() if
/// not, and if the count is none. A reduction by the MPI library's op, which always passes, has a
/// shape by_mpi().
Classified shape_of_known(const HostCall& call);

}  // namespace gradcoll
