// mpi/element_types.hpp - MPI datatypes and ops in our terms, and two 16-bit float types for MPI
// libraries that lack them.
#pragma once

#include <optional>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "reduce/element_type.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// What MPI lets an op do depends on the kind of type (MPI 3.1 section 5.9.2).
enum class TypeKind : std::uint8_t {
    c_integer,
    fortran_integer,
    offset,
    floating,
    complex,
    logical,
    bytes
};

struct KnownType {
    ElementType type = ElementType::opaque;
    TypeKind kind = TypeKind::bytes;
    int components = 1;  ///< number of elements in one of the datatype: 2 in a complex number

    std::size_t size_bytes() const {
        return element_bytes(type) * static_cast<std::size_t>(components);
    }
};

/// Returns what a datatype holds: complex numbers as two reals; logical values as integers of their
/// size, if this MPI library has them as 0 and 1. Returns nothing for derived types and for named
/// types that our kernels do not know (pairs, long double, characters).
std::optional<KnownType> known_type(MPI_Datatype datatype);

/// Returns nothing for user-defined ops and for those that only make sense elsewhere (MAXLOC,
/// MINLOC, REPLACE, NO_OP).
std::optional<ReduceOp> known_op(MPI_Op op);

/// Returns whether MPI defines `op` for this kind of type, and it works on each component alone.
bool op_fits(ReduceOp op, TypeKind kind);

/// These functions return committed types of 2 bytes, made at the first use and freed in
/// MPI_Finalize. Thread safe.
Result<MPI_Datatype> float16_type();
Result<MPI_Datatype> bfloat16_type();

/// Returns whether `datatype` is one of these two: to MPI they are two bytes each, for which it has
/// no sums.
bool has_no_ops_in_mpi(MPI_Datatype datatype);

/// Returns an MPI op that does sum, prod, min or max on those two types, for calls that must pass
/// to the MPI library. It is made at the first use, and freed in MPI_Finalize. Errors: invalid_op
/// for the other ops.
Result<MPI_Op> op_for_16_bit_floats(ReduceOp op);

/// Returns f16 or bf16 if `datatype` is a type of that kind by one of the names that MPI libraries
/// have for it: MPIX_C_FLOAT16, MPIX_BFLOAT16, MPIX_SHORT_FLOAT, MPI_REAL2. What it holds is asked
/// of the library of this process, by a sum: MPICH 5.0.2 and Intel MPI 2021.19 have one ABI, but
/// not one number for bfloat16. Returns nothing for other types, and for one that this library does
/// not sum. Thread safe; only between MPI_Init and MPI_Finalize.
std::optional<ElementType> half_type(MPI_Datatype datatype);

}  // namespace gradcoll
