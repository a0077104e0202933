// mpi/half_types.hpp - the names that MPI libraries have for 16-bit floats.
#pragma once

#include <optional>

#include "base/mpi/mpi.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Returns f16 or bf16 if `datatype` is a type of that kind by one of the names that MPI libraries
/// have for it: MPIX_C_FLOAT16, MPIX_BFLOAT16, MPIX_SHORT_FLOAT, MPI_REAL2. What it holds is asked
/// of the library of this process, by a sum: MPICH 5.0.2 and Intel MPI 2021.19 have one ABI, but
/// not one number for bfloat16. Returns nothing for other types, and for one that this library does
/// not sum. Thread safe; only between MPI_Init and MPI_Finalize.
std::optional<ElementType> half_type(MPI_Datatype datatype);

}  // namespace gradcoll
