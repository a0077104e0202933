// api/calls/host_admission.hpp - a barrier, broadcast or reduce on its way in: the same order as of
// other calls (call.hpp), but where it goes is a question of its communicator alone.
#pragma once

#include <memory>

#include "api/calls/host_call.hpp"

namespace gradcoll {

/// What became of it: an error, a reason to pass it, or what serving it needs.
struct AdmittedHostCall {
    Status error;
    PassReason pass_reason = PassReason::none;
    std::shared_ptr<CommContext> context;  ///< null if its communicator has none
    CallShape shape;                       ///< bytes, but of a reduce
    CallMemory memory;
};
AdmittedHostCall admit_host_call(const HostCall& call);

/// Whether the MPI library is faster: long broadcasts that it copies but once.
inline bool is_too_long(const HostCall& call, std::uint64_t size_bytes, int rank_count) {
    return call.entry->kind == CallKind::bcast &&
           size_bytes > OneHost::most_bcast_bytes(rank_count);
}

/// Its shape if the type (and op) have one whose handles this thread knows for good; passes() if
/// not, and if the count is none.
Classified shape_of_known(const HostCall& call);

}  // namespace gradcoll
