// api/calls/blocks.hpp - what the calls in MPI's block layout share: reduce-scatter and allgather.
#pragma once

#include <cstddef>

#include "api/comm/comm_context.hpp"
#include "api/comm/route.hpp"
#include "api/edge/request.hpp"

namespace gradcoll {

// ---- MPI_Reduce_scatter_block: `count` of the arguments is one block's

/// The two buffers as far as they are known; in place the whole vector lies in recvbuf, and there
/// is no send buffer.
struct BufferPair {
    BufferArgument send;
    BufferArgument receive;
};
BufferPair buffers_of_reduce_scatter(const ReduceArguments& arguments, int rank_count);

/// All but the communicator and overlap.
Status check_reduce_scatter_but_overlap(const ReduceArguments& arguments, int rank_count);

/// `shape` is the whole vector's. Counts the call if it is compressible.
Route route_reduce_scatter(CommContext& context, const CallShape& shape, bool in_place);

// ---- MPI_Allgather

struct GatherArguments {
    const void* sendbuf = nullptr;
    MPI_Count sendcount = 0;
    MPI_Datatype sendtype = MPI_DATATYPE_NULL;
    void* recvbuf = nullptr;
    MPI_Count recvcount = 0;
    MPI_Datatype recvtype = MPI_DATATYPE_NULL;
    MPI_Comm comm = MPI_COMM_NULL;

    bool in_place() const { return sendbuf == MPI_IN_PLACE; }
};

/// Null and impossible handles and counts.
Status check_gather_types(const GatherArguments& a);

/// Blocks in bytes: the one description of them that all ranks share, whatever datatypes each of
/// them uses. Errors: invalid_count if the two sides differ.
Result<std::size_t> block_bytes_of(const GatherArguments& a);

/// Buffers of types with gaps are unknown: of no bytes.
BufferPair buffers_of_gather(const GatherArguments& a, std::size_t block_bytes, int rank_count);

/// Bytes if nothing is compressed; else elements of the type that a codec needs to know. Counts the
/// call if it is compressible.
Route route_allgather(CommContext& context, const GatherArguments& a, std::size_t block_bytes,
                      bool always_exact);

/// With gc_check=collective: fails on all ranks if their calls or blocks differ. Collective then,
/// else nothing.
Status check_gather_alike(const CommContext& context, const char* call, std::size_t block_bytes);

/// Runs and counts it.
Status gather_on_tree(CommContext& context, const GatherArguments& a, const CallKey& key,
                      std::size_t block_bytes);

}  // namespace gradcoll
