// mpi/mpi_reduction.hpp - reductions that have no kernel here, combined by the MPI library's
// own MPI_Reduce_local: pairs, products of complex numbers, long double, and ops of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mpi/mpi.hpp"
#include "mpi/pass_reason.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// Where elements lie as their datatype says while an op of the program combines them.
struct UnpackedRoom {
    MPI_Comm comm = MPI_COMM_NULL;  ///< private
    std::size_t most_elements = 0;  ///< at a time
    // What the datatype counts from; the memory is aligned as malloc's.
    void* in = nullptr;
    void* inout = nullptr;
};

/// An op and a datatype that it is defined for, as handles of this rank.
struct MpiReduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    std::size_t element_bytes = 0;
    /// Null: the operands lie as the datatype says; else they are packed. Outlives the reduction.
    const UnpackedRoom* room = nullptr;
};

/// Elements of such a reduction. Ranks give ops of the program types of one signature, each in a
/// layout of its own: every rank comes to the same `pass_reason`, `size_bytes` and `kind`.
struct MpiElements {
    PassReason pass_reason = PassReason::none;  ///< set: nobody but the MPI library combines them
    /// On the way from rank to rank; 0: the op is not defined for them. Of an op of the program:
    /// the bytes of data. Of others: from one element of the named type to the next.
    std::size_t size_bytes = 0;
    std::uint32_t kind = 0;  ///< differs for types and ops that differ
    // Only this rank knows.
    bool are_lasting = false;  ///< the datatype's handle is never another's
    bool are_packed = false;   ///< on their way; perhaps, as long as the datatype is not marked
};

/// Whether it is one of MPI's own.
bool is_predefined(MPI_Op op);

/// Predefined ops of pairs and numbers that have no kernels, and ops of the program of every type.
/// Whether a derived type is committed is not asked.
MpiElements elements_for_mpi(MPI_Op op, MPI_Datatype datatype);

/// Elements are not larger: a reducer's scratch is on the stack.
inline constexpr std::size_t most_mpi_element_bytes = 16 << 10;

/// The reducer, but for its context: the MpiReduction, which must outlive its use. It combines in
/// the order of its operands, from the last to the first, whole elements at a time, on the calling
/// thread; operands must be aligned as the datatype needs. Errors are the MPI library's to raise.
Reducer mpi_reducer(std::size_t element_bytes);

}  // namespace gradcoll
