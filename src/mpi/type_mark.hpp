// mpi/type_mark.hpp - what was found out about a derived datatype of the program, kept on it:
// its handle may be another's next time, and the mark goes with the datatype.
#pragma once

#include <cstddef>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// A committed datatype.
struct MarkedType {
    std::size_t element_bytes = 0;  ///< of the data of one element
    bool is_in_order = false;       ///< as lies_in_order() says (signature.hpp)
};

/// A copy of the datatype has no mark. If MPI refuses, there is none.
void mark_type(MPI_Datatype datatype, const MarkedType& mark);

/// Null without a mark; lives as long as the datatype. Any valid datatype. Thread safe.
const MarkedType* mark_of(MPI_Datatype datatype) noexcept;

}  // namespace gradcoll
