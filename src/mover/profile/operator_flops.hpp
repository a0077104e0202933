// mover/profile/operator_flops.hpp - the arithmetic of an operator, by its name and shapes.
#pragma once

#include "mover/profile/execution_trace.hpp"

namespace gradcoll::mover {

/// Returns the additions and multiplications of a matrix product, convolution or attention that
/// calls none of the others; 0 for all other operators.
double flops_of(const ExecutedNode& node);

}  // namespace gradcoll::mover
