// mpi/type_mark.hpp - what was found out about a derived datatype of the program, kept on it:
// its handle may be another's next time, and the mark goes with the datatype.
#pragma once

#include <cstddef>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// A MarkedType is what was found out about a committed datatype.
struct MarkedType {
    std::size_t element_bytes = 0;  ///< bytes of data in one element
    bool is_in_order = false;       ///< what lies_in_order() says (signature.hpp)
};

/// Marks the datatype; a copy of it has no mark. If MPI refuses, there is none.
void mark_type(MPI_Datatype datatype, const MarkedType& mark);

/// Returns the mark of any valid datatype; null if it has none. The mark lives as long as the
/// datatype. Thread safe.
const MarkedType* mark_of(MPI_Datatype datatype) noexcept;

}  // namespace gradcoll
