// api/edge/type_mark.hpp - what was found out about a derived datatype of the program, kept on it:
// its handle may be another's next time, and the mark goes with the datatype.
#pragma once

#include <cstddef>
#include <vector>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

struct ByteRun {
    std::size_t begin = 0;
    std::size_t size = 0;
};

/// A committed datatype whose elements follow each other.
struct MarkedType {
    std::size_t element_bytes = 0;  ///< from one to the next
    std::vector<ByteRun> data;      ///< of one element, in order; empty: there are no gaps

    bool has_gaps() const { return !data.empty(); }
};

/// A copy of the datatype has no mark. If MPI refuses, there is none.
void mark_type(MPI_Datatype datatype, const MarkedType& mark);

/// Null without a mark; lives as long as the datatype. Any valid datatype. Thread safe.
const MarkedType* mark_of(MPI_Datatype datatype) noexcept;

}  // namespace gradcoll
