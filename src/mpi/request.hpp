// mpi/request.hpp - the arguments of one call as the caller gave them: what is wrong with
// each, where their memory is, what they mean in our types, and how they pass to the MPI library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/devices.hpp"
#include "mpi/boundary.hpp"
#include "mpi/element_types.hpp"
#include "mpi/mpi_reduction.hpp"
#include "mpi/pass_reason.hpp"
#include "runtime/binding.hpp"

namespace gradcoll {

/// CallArguments are the arguments of MPI_Allreduce and its kin. In a broadcast `recvbuf` is the
/// buffer, in place; the count of a barrier is 1.
struct CallArguments {
    const void* sendbuf = nullptr;
    void* recvbuf = nullptr;
    MPI_Count count = 0;  ///< length of the vector; in the block layout that of one block
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    // Only an allgather has these; its `count` and `datatype` are those that it receives with.
    MPI_Count sendcount = 0;
    MPI_Datatype sendtype = MPI_DATATYPE_NULL;
    int root = 0;
};

/// A BufferArgument is one side of a data movement, as far as it is known: buffers of derived types
/// have no bytes here, as their addresses may be anywhere (MPI_BOTTOM).
struct BufferArgument {
    const char* name = "";
    const void* data = nullptr;
    std::size_t size_bytes = 0;
};
/// A BufferPair has no send buffer in place.
struct BufferPair {
    BufferArgument send;
    BufferArgument receive;
};

/// CallMemory holds for each buffer the number of its device, or host_memory.
struct CallMemory {
    int send = host_memory;  ///< the same as `receive` in place
    int receive = host_memory;

    bool any_device() const { return send != host_memory || receive != host_memory; }
    /// Returns whether only the MPI library may touch some of the memory (mpi_reach.hpp).
    bool any_unserved() const { return send == unserved_device || receive == unserved_device; }
    /// Returns a device that takes part; only for use if any_device().
    int device() const { return receive != host_memory ? receive : send; }
};

/// A CallShape is what a call wants, in our types. It holds only facts that are the same on all
/// ranks, but for the handles in `mpi` and what is said to be this rank's. Complex numbers count as
/// two elements.
struct CallShape {
    std::int64_t count = 0;
    ElementType type = ElementType::f32;
    std::size_t elem_bytes = 0;
    ReduceOp op = ReduceOp::sum;  ///< meaningless if the MPI library's op combines
    Reducer reducer;
    int components = 1;  ///< number of elements in one of the call's datatype
    /// This is set if its type and op are known by their handles for good: the handle of a derived
    /// type may become another's, and its mark says whether it has (signature.hpp). An op of the
    /// program can only become another such, which has this shape. This rank's.
    bool is_lasting = true;
    /// This is set if the program's elements do not lie as they go to other ranks
    /// (lies_in_order()), so that they are packed; only by_mpi(). This rank's.
    bool is_packed = false;
    std::uint64_t kind = 0;  ///< differs for types and ops that differ; 0: no reduction
    /// This combines elements if there is no kernel. Then only the shared memory of one host serves
    /// the call.
    MpiReduction mpi = {};
    PassReason mpi_reason = PassReason::none;  ///< why no kernel combines them

    bool by_mpi() const { return mpi_reason != PassReason::none; }
    bool sums() const { return op == ReduceOp::sum && !by_mpi(); }
    void set_count(MPI_Count of_datatype) { count = of_datatype * components; }
    /// Returns the bytes of one of the call's datatype.
    std::size_t item_bytes() const { return elem_bytes * static_cast<std::size_t>(components); }
    std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(count) * elem_bytes; }
};

/// Returns the shape of data that move without being reduced, by their bytes: ranks may describe
/// them in other ways.
inline CallShape shape_of_bytes(std::uint64_t size_bytes) {
    return {static_cast<std::int64_t>(size_bytes), ElementType::u8, 1, ReduceOp::bor, {}};
}

/// These checks refuse null and impossible handles and counts. Errors: invalid_comm, invalid_op,
/// invalid_type, invalid_count.
Status check_comm(MPI_Comm comm);
/// Checks also that the communicator has one group.
Status check_intracomm(MPI_Comm comm);
Status check_op(MPI_Op op);
Status check_datatype(const char* name, MPI_Datatype datatype);
Status check_count(const char* name, MPI_Count count);
/// This is the most that check_count() allows: sizes in bytes do not overflow.
inline constexpr MPI_Count most_count = std::numeric_limits<MPI_Count>::max() / 64;

/// Reach says which memory a kind of call reaches.
enum class Reach : std::uint8_t { host, host_and_devices };

/// Finds the memory of a buffer that holds data. Errors: invalid_buffer if it is null, or in memory
/// that is not reached.
Status locate(const BufferArgument& buffer, Reach reach, int& memory);
/// Errors: invalid_buffer if the two share a byte.
Status check_disjoint(const BufferPair& buffers);

/// Returns whether a buffer needs no closer look: it is not null, and in memory of the host.
bool is_plain_host_memory(const void* buffer);
/// Returns whether both buffers are so, and at least `size_bytes` apart, or in place.
bool are_plain_and_apart(const CallArguments& arguments, std::uint64_t size_bytes);

inline bool is_in_place(const CallArguments& arguments) {
    return arguments.sendbuf == MPI_IN_PLACE;
}

/// Returns the input and output of a call as a binding, which needs the shape as long as it lives;
/// the sequence is filled in when the operation begins.
Binding binding_of(const CallArguments& arguments, const CallShape& shape);

/// Returns the bytes from the first to the last element of a buffer; 0 for types that are not
/// plain.
std::size_t plain_bytes(MPI_Count count, MPI_Datatype datatype);

/// Classified is either a shape for the tree, or why the call passes to the MPI library where there
/// is no shared memory (`shape.by_mpi()`), or everywhere. It rests only on count, datatype and op.
/// Each thread remembers the last type and op that have a shape.
struct Classified {
    CallShape shape;
    PassReason pass_reason = PassReason::none;  ///< none: `shape` is for the tree

    bool passes() const { return pass_reason != PassReason::none; }
};
Classified classify(MPI_Count count, MPI_Datatype datatype, MPI_Op op);

/// Gives an allreduce to the MPI library, whose code is returned: in pieces if the count is beyond
/// an int, and with an op of ours for the 16-bit float types.
Outcome pass_allreduce(const CallArguments& arguments);
/// Does the same for MPI_Reduce_scatter_block; its count is an int.
Outcome pass_reduce_scatter(const CallArguments& arguments);
/// Does the same for MPI_Iallreduce. Errors: invalid_count beyond an int.
Outcome pass_iallreduce(const CallArguments& arguments, MPI_Request* request);

/// Returns the op to hand to the MPI library: `op` itself, but for predefined ops on the 16-bit
/// float types.
Result<MPI_Op> op_for_mpi(MPI_Op op, MPI_Datatype datatype);

}  // namespace gradcoll
