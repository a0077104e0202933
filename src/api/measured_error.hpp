// api/measured_error.hpp - what compression did to a sum: every so many compressed calls the exact
// sum is made, too, and compared (GC_REPORT_ERROR).
#pragma once

#include <cstddef>
#include <vector>

#include "api/comm_context.hpp"
#include "api/request.hpp"

namespace gradcoll {

/// Differences of two vectors. Values that are not finite in the exact vector do not count.
struct Difference {
    double max_abs = 0;
    double relative_l2 = 0;  ///< length of the difference over that of the exact vector
};
/// For floating-point types.
Difference difference_of(ElementType type, const void* result, const void* exact,
                         std::size_t count);

/// Runs an allreduce that is routed to the tree, counts it, and measures its error if it is the
/// turn of this call (which all ranks know alike). `arguments`: of the call, with separate buffers
/// or in place.
Status run_allreduce(CommContext& context, const ReduceArguments& arguments, const CallShape& shape,
                     const Route& route);

}  // namespace gradcoll
