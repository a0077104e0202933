// mpi/mpi_reduction.hpp - reductions that have no kernel here, combined by the MPI library's
// own MPI_Reduce_local: pairs, products of complex numbers, long double, and ops of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mpi/mpi.hpp"
#include "mpi/pass_reason.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// An UnpackedRoom is memory in which elements lie as their datatype says while an op of the
/// program combines them.
struct UnpackedRoom {
    MPI_Comm comm = MPI_COMM_NULL;  ///< the private communicator
    std::size_t most_elements = 0;  ///< number of elements that fit at a time
    // These are the addresses that the datatype counts from; the memory is aligned as malloc's.
    void* in = nullptr;
    void* inout = nullptr;
};

/// An MpiReduction is an op and a datatype that it is defined for, as handles of this rank.
struct MpiReduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    std::size_t element_bytes = 0;
    /// If this is null the operands lie as the datatype says; else they are packed. It outlives the
    /// reduction.
    const UnpackedRoom* room = nullptr;
};

/// MpiElements are the elements of such a reduction. Ranks give ops of the program types of one
/// signature, each in a layout of its own: every rank comes to the same `pass_reason`, `size_bytes`
/// and `kind`.
struct MpiElements {
    PassReason pass_reason = PassReason::none;  ///< if set, nobody but the MPI library combines
                                                ///< them
    /// This is the size of an element on the way from rank to rank; 0: the op is not defined for
    /// them. For an op of the program these are the bytes of data, for others those from one
    /// element of the named type to the next.
    std::size_t size_bytes = 0;
    std::uint32_t kind = 0;  ///< differs for types and ops that differ
    // Only this rank knows the two below.
    bool are_lasting = false;  ///< whether the datatype's handle is never another's
    bool are_packed = false;   ///< whether they are packed on their way; perhaps only, if the
                               ///< datatype is not marked yet
};

/// Returns whether the op is one of MPI's own.
bool is_predefined(MPI_Op op);

/// Returns the elements for predefined ops of pairs and numbers that have no kernels, and for ops
/// of the program of every type. It does not ask whether a derived type is committed.
MpiElements elements_for_mpi(MPI_Op op, MPI_Datatype datatype);

/// Elements are at most so large: a reducer's scratch is on the stack.
inline constexpr std::size_t most_mpi_element_bytes = 16 << 10;

/// Returns the reducer, but for its context: the MpiReduction, which must outlive its use. It
/// combines in the order of its operands, from the last to the first, whole elements at a time, on
/// the calling thread; operands must be aligned as the datatype needs. Errors are the MPI library's
/// to raise.
Reducer mpi_reducer(std::size_t element_bytes);

}  // namespace gradcoll
