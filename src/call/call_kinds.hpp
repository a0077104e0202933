// call/call_kinds.hpp - what tells allreduce, reduce-scatter and allgather apart on their way
// in: arguments, buffers, shape, what ranks compare, and what a route is asked with.
#pragma once

#include <cstddef>
#include <string>

#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Null and impossible handles and counts, and MPI_IN_PLACE where it is not allowed. Errors:
/// invalid_comm, invalid_op, invalid_type, invalid_count, invalid_buffer.
Status check_handles(Collective kind, const CallArguments& arguments);

/// Fills in its buffers. `item_bytes`: of the shape, 0 if it has none. Errors: invalid_count if the
/// two sides of an allgather differ in size.
Status find_buffers(Collective kind, const CallArguments& arguments, int blocks,
                    std::size_t item_bytes, BufferPair& out);

/// The whole vector; that of an allgather in bytes. Of arguments that check_handles() lets pass;
/// `blocks`: how many the vector has, 1 for an allreduce.
Classified classify(Collective kind, const CallArguments& arguments, int blocks);

/// Whoever serves a derived type must see that it is committed. MPI has no question for it, but
/// packing nothing is an error if it is not. `comm`: private. Errors: invalid_type.
Status check_committed(Collective kind, const CallArguments& arguments, MPI_Comm comm);

/// Count, datatype and op as texts that ranks compare; of null handles, too.
struct CallTexts {
    std::string count;
    std::string datatype;
    std::string op;
};
CallTexts texts_of(Collective kind, const CallArguments& arguments);

/// Whether an allgather is for the MPI library rather than for the shared memory of one host.
bool is_slower_on_one_host(Collective kind, const CallShape& shape, int rank_count);

/// How a call is made.
struct CallManner {
    bool feedback = false;
    bool blocking = false;      ///< the caller waits in the call
    bool always_exact = false;  ///< it must not be compressed whatever the codec
};

/// Where it goes under the settings and at the step of its communicator, which counts it if it is
/// compressible. Collective if the call is blocking.
Route route_call(CommContext& context, Collective kind, const CallArguments& arguments,
                 const CallShape& shape, const CallManner& manner);
/// Whether the memory of one host takes an exact allreduce that cannot wait for others, so that the
/// memory must be there already. The same on all ranks.
bool may_start_on_one_host(const CommContext& context, const CallShape& shape);
/// Where the next blocking allreduce would go; counts and makes nothing.
Route foreseen_blocking_route(const CommContext& context, const CallShape& shape);

}  // namespace gradcoll
