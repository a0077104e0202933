// api/observe/measured_error.hpp - what compression did to a sum: every so many compressed calls
// the exact sum is made, too, and compared (GC_REPORT_ERROR).
#pragma once

#include <cstddef>
#include <vector>

#include "api/comm/comm_context.hpp"
#include "api/edge/request.hpp"

namespace gradcoll {

/// Differences of two vectors. Values that are not finite in the exact vector do not count.
struct Difference {
    double max_abs = 0;
    double relative_l2 = 0;  ///< length of the difference over that of the exact vector
};
/// For floating-point types.
Difference difference_of(ElementType type, const void* result, const void* exact,
                         std::size_t count);

/// Makes the exact sum with the MPI library, and tells the report how far `result` is from it.
/// Collective. `input` and `result`: of this rank, in host memory. Errors: those of MPI_Allreduce.
Status measure_error(CommContext& context, const ReduceArguments& arguments, const CallShape& shape,
                     const std::byte* input, const std::byte* result);

}  // namespace gradcoll
