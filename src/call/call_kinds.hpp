// call/call_kinds.hpp - what tells allreduce, reduce-scatter and allgather apart on their way
// in: arguments, buffers, shape, what ranks compare, and what a route is asked with.
#pragma once

#include <cstddef>
#include <string>

#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Checks for null and impossible handles and counts, and for MPI_IN_PLACE where it is not allowed.
/// Errors: invalid_comm, invalid_op, invalid_type, invalid_count, invalid_buffer.
Status check_handles(Collective kind, const CallArguments& arguments);

/// Describes the buffers of a call in `out`. `item_bytes` is that of its shape, 0 if it has none.
/// Errors: invalid_count if the two sides of an allgather differ in size.
Status find_buffers(Collective kind, const CallArguments& arguments, int blocks,
                    std::size_t item_bytes, BufferPair& out);

/// Returns the shape of the whole vector, which for an allgather is one of bytes. The arguments
/// have passed check_handles(); `blocks` is how many blocks the vector has, 1 for an allreduce.
Classified classify(Collective kind, const CallArguments& arguments, int blocks);

/// Verifies that a derived type is committed, for those who serve it. MPI has no query for this,
/// but packing no elements is an error if it is not. `comm` is private. Errors: invalid_type.
Status check_committed(Collective kind, const CallArguments& arguments, MPI_Comm comm);

/// CallTexts holds count, datatype and op as texts that ranks compare; null handles have a text,
/// too.
struct CallTexts {
    std::string count;
    std::string datatype;
    std::string op;
};
CallTexts texts_of(Collective kind, const CallArguments& arguments);

/// CallManner says how a call is made.
struct CallManner {
    bool feedback = false;
    bool blocking = false;      ///< the caller waits in the call
    bool always_exact = false;  ///< it must not be compressed whatever the codec
};

/// Returns where the call goes under the settings and at the step of its communicator, and counts
/// it there if it is compressible. Collective if the call is blocking.
Route route_call(CommContext& context, Collective kind, const CallArguments& arguments,
                 const CallShape& shape, const CallManner& manner);
/// Returns where the next blocking allreduce would go; counts and makes nothing.
Route foreseen_blocking_route(const CommContext& context, const CallShape& shape);

}  // namespace gradcoll
