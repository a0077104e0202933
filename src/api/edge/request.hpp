// api/edge/request.hpp - one reduction as the caller gave it: checked, and either understood or
// with a reason to pass to the MPI library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/edge/boundary.hpp"
#include "api/edge/element_types.hpp"
#include "api/edge/pass_reason.hpp"

namespace gradcoll {

/// The arguments of MPI_Allreduce and its kin.
struct ReduceArguments {
    const void* sendbuf = nullptr;
    void* recvbuf = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
};

/// One side of a data movement, for the checks.
struct BufferArgument {
    const char* name = "";
    const void* data = nullptr;
    std::size_t size_bytes = 0;
};

/// What a call wants, in our types; only facts that are the same on all ranks.
struct CallShape {
    std::int64_t count = 0;
    ElementType type = ElementType::f32;
    std::size_t elem_bytes = 0;
    ReduceOp op = ReduceOp::sum;
    Reducer reducer;

    std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(count) * elem_bytes; }
};

/// Null and impossible handles and counts. Errors: invalid_comm, invalid_op, invalid_type,
/// invalid_count.
Status check_comm(MPI_Comm comm);
Status check_op(MPI_Op op);
Status check_datatype(const char* name, MPI_Datatype datatype);
Status check_count(const char* name, MPI_Count count);

/// Which memory a kind of call reaches.
enum class Reach : std::uint8_t { host, host_and_devices };

/// A buffer that holds data must not be null, or memory that is not reached. Errors:
/// invalid_buffer.
Status check_buffer(const BufferArgument& buffer, Reach reach = Reach::host);
/// Errors: invalid_buffer if the two share a byte.
Status check_disjoint(const BufferArgument& a, const BufferArgument& b);

/// Null and impossible arguments of an allreduce, whatever is behind the handles.
Status check_handles(const ReduceArguments& arguments);
/// That its buffers hold data that is reached. Those of derived types are left alone: their
/// addresses may be anywhere (MPI_BOTTOM).
Status check_buffers(const ReduceArguments& arguments, Reach reach = Reach::host);
/// Both, and that the buffers are apart: all checks but those of the communicator's kind.
Status check_allreduce(const ReduceArguments& arguments, Reach reach = Reach::host);

inline bool is_in_place(const ReduceArguments& arguments) {
    return arguments.sendbuf == MPI_IN_PLACE;
}

/// Bytes from the first to the last element of a buffer; 0 for types that are not plain.
std::size_t plain_bytes(MPI_Count count, MPI_Datatype datatype);

/// Either a shape for the tree, or why the call passes to the MPI library. Rests only on count,
/// datatype and op.
struct Classified {
    CallShape shape;
    PassReason pass_reason = PassReason::none;  ///< none: `shape` is for the tree

    bool passes() const { return pass_reason != PassReason::none; }
};
Classified classify(MPI_Count count, MPI_Datatype datatype, MPI_Op op);

/// Gives an allreduce to the MPI library, whose code is returned: in pieces if the count is beyond
/// an int, and with an op of ours for the 16-bit float types.
Outcome pass_allreduce(const ReduceArguments& arguments);
/// The same for MPI_Iallreduce. Errors: invalid_count beyond an int.
Outcome pass_iallreduce(const ReduceArguments& arguments, MPI_Request* request);

/// The op to hand to the MPI library: `op` itself, but for predefined ops on the 16-bit float
/// types.
Result<MPI_Op> op_for_mpi(MPI_Op op, MPI_Datatype datatype);

}  // namespace gradcoll
