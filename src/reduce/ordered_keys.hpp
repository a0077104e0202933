// reduce/ordered_keys.hpp - floats as integers that compare as their values do, for minima and
// maxima that are the same in whatever order they are found.
#pragma once

#include <cstddef>

#include "reduce/element_type.hpp"
#include "reduce/reduce_op.hpp"

namespace gradcoll {

/// Turns `count` floats into signed integers of their size, in place. -0 is below +0, and a NaN is
/// beyond all numbers, so that it is the result of `op` (min or max). Thread safe, as is the way
/// back.
void to_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count);
/// Turns keys back into floats. The key of a NaN gives the quiet NaN without a sign and payload.
void from_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count);

}  // namespace gradcoll
