// The operations one element at a time, written from the definition and compiled for any CPU.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reduce/reducer.hpp"

namespace gradcoll::reference {

using Bytes = std::vector<unsigned char>;

bool is_defined(ReduceOp op, ElementType type);
/// Returns a op b for every element.
Bytes reduced(ReduceOp op, ElementType type, const Bytes& a, const Bytes& b);
/// Returns whether both elements at `index` are NaN: then only that the result is NaN is promised
/// for sum and prod.
bool both_nan(ElementType type, const Bytes& a, const Bytes& b, std::size_t index);
bool is_nan(ElementType type, const Bytes& a, std::size_t index);

}  // namespace gradcoll::reference
