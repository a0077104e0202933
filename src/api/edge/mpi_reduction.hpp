// api/edge/mpi_reduction.hpp - reductions that have no kernel here, combined by the MPI library's
// own MPI_Reduce_local: pairs, products of complex numbers, long double, and ops of the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/edge/pass_reason.hpp"
#include "base/mpi/mpi.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// An op and a datatype that it is defined for, as handles of this rank.
struct MpiReduction {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    std::size_t element_bytes = 0;
};

/// Elements of such a reduction; every rank comes to the same, since MPI wants the same op and
/// datatype of all.
struct MpiElements {
    PassReason pass_reason = PassReason::none;  ///< set: nobody but the MPI library combines them
    std::size_t size_bytes = 0;  ///< from one to the next; 0: the op is not defined for them
    std::uint32_t kind = 0;      ///< differs for types and ops that differ
    bool are_lasting = false;    ///< the datatype's handle is never another's
    bool have_gaps = false;      ///< that may hold what is the program's
};

/// Predefined ops of pairs and numbers that have no kernels, and ops of the program of every named
/// type and of derived ones whose elements follow each other. Whether a derived type is committed
/// is not asked.
MpiElements elements_for_mpi(MPI_Op op, MPI_Datatype datatype);

/// Elements are not larger: a reducer's scratch is on the stack.
inline constexpr std::size_t most_mpi_element_bytes = 16 << 10;

/// The reducer, but for its context: the MpiReduction, which must outlive its use. It combines in
/// the order of its operands, from the last to the first, whole elements at a time, on the calling
/// thread; operands must be aligned as the datatype needs. Errors are the MPI library's to raise.
Reducer mpi_reducer(std::size_t element_bytes);

}  // namespace gradcoll
