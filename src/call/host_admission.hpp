// call/host_admission.hpp - a barrier, broadcast or reduce on its way in: the same order as of
// other calls (call.hpp), but where it goes is a question of its communicator alone.
#pragma once

#include <memory>

#include "call/call.hpp"

namespace gradcoll {

/// HostCall is one call as the program made it.
struct HostCall {
    const Entry* entry = nullptr;  ///< its kind is barrier, bcast or reduce; outlives the call
    /// In a broadcast `recvbuf` is the buffer, in place. A barrier has nothing but the
    /// communicator, which is not null.
    CallArguments arguments;
    int root = 0;
};

/// AdmittedHostCall is what admit_host_call() makes of it: an error, a reason to pass it, or what
/// serving it needs.
struct AdmittedHostCall {
    Status error;
    /// If it is not ok, only this rank's buffers are wrong, and the other ranks, which wait, have
    /// to be told.
    Status refusal;
    PassReason pass_reason = PassReason::none;
    std::shared_ptr<CommContext> context;  ///< null if its communicator has none
    CallShape shape;  ///< a reduce has one of elements, other calls one of bytes
    CallMemory memory;
};
AdmittedHostCall admit_host_call(const HostCall& call);

/// Returns why a call of this size passes: the MPI library does it faster. Returns none if nothing
/// speaks against shared memory.
inline PassReason reason_by_size(const HostCall& call, std::uint64_t size_bytes, int rank_count) {
    const CallKind kind = call.entry->kind;
    if (kind == CallKind::barrier) return PassReason::none;
    if (size_bytes == 0) return PassReason::empty_vector;
    const bool is_good = kind == CallKind::bcast
                             ? OneHost::is_good_for_bcast(size_bytes, rank_count)
                             : OneHost::is_good_for_reduce(size_bytes, rank_count);
    return is_good ? PassReason::none : PassReason::slower_on_one_host;
}

/// Returns the call's shape if its type (and op) have one and this thread knows their handles for
/// good. Returns one that passes() if not, and if the count is not valid. A reduction by the MPI
/// library's op, which always passes, has a shape by_mpi().
Classified shape_of_known(const HostCall& call);

}  // namespace gradcoll
