// api/edge/type_mark.hpp - what was found out about a datatype of the program, kept on it: its
// handle may be another's next time, and the mark goes with the datatype.
#pragma once

#include <cstddef>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Notes that a derived datatype is committed and that its elements have so many bytes, without
/// gaps. A copy of the datatype has no mark. If MPI refuses, there is none.
void mark_type(MPI_Datatype datatype, std::size_t element_bytes) noexcept;

/// 0 without a mark. Any valid datatype. Thread safe.
std::size_t marked_bytes(MPI_Datatype datatype) noexcept;

}  // namespace gradcoll
