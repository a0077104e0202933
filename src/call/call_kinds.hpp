// call/call_kinds.hpp - what tells the kinds of calls apart on their way in: arguments, buffers,
// shape, and what a route is asked with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Checks for null and impossible handles and counts, and for MPI_IN_PLACE where it is not allowed.
/// Errors: invalid_comm, invalid_op, invalid_type, invalid_count, invalid_buffer, invalid_argument.
Status check_handles(CallKind kind, const CallArguments& arguments);

/// Checks that the elements of so many blocks of `count` can be counted. Errors: invalid_count.
Status check_block_count(MPI_Count count, int blocks);

/// Describes the buffers that this rank has of a call in `out`. `item_bytes` is that of its shape,
/// 0 if it has none. Errors: invalid_count if the two sides of an allgather differ in size.
Status find_buffers(CallKind kind, const CallArguments& arguments, int blocks,
                    std::size_t item_bytes, BufferPair& out);

/// Returns the bytes of `count` of the datatype; 0 if MPI does not know it.
std::uint64_t received_bytes(const CallArguments& arguments);

/// Returns the shape of the whole vector, which is one of bytes if nothing is reduced. The
/// arguments have passed check_handles(); `blocks` is how many blocks the vector has, 1 if it has
/// none.
Classified classify(CallKind kind, const CallArguments& arguments, int blocks);
/// Returns the same for a call that may not have passed check_handles(), if this thread knows its
/// type (and op) by their handles for good; else one that passes() for unknown_datatype.
Classified classify_known(CallKind kind, const CallArguments& arguments, int blocks);

/// Verifies that a derived type is committed, for those who serve it. MPI has no query for this,
/// but packing no elements is an error if it is not. `comm` is private. Errors: invalid_type.
Status check_committed(CallKind kind, const CallArguments& arguments, MPI_Comm comm);

/// CallManner says how a call is made.
struct CallManner {
    bool feedback = false;
    bool always_exact = false;  ///< it must not be compressed whatever the codec
    /// It adds words of sums on a grid, which are packed where they leave a host.
    bool adds_words = false;
};

/// Returns where the call goes under the settings and at the step of its communicator, and counts
/// it there if it is compressible. Collective if the call is blocking.
Route route_call(CommContext& context, CallKind kind, const CallArguments& arguments,
                 const CallShape& shape, const CallManner& manner = {});
/// Returns where the next blocking allreduce would go; counts and makes nothing.
Route foreseen_blocking_route(const CommContext& context, const CallShape& shape);

}  // namespace gradcoll
