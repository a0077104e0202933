// reduce/widen.hpp - vectors in a wider floating-point type, whose additions are off by less, and
// back with one rounding.
#pragma once

#include <cstddef>

#include "reduce/element_type.hpp"

namespace gradcoll {

/// fp32 of the 16-bit floats, and fp64 of fp32. fp64 and all other types have none: themselves.
constexpr ElementType wider_type(ElementType type) {
    if (type == ElementType::f16 || type == ElementType::bf16) return ElementType::f32;
    return type == ElementType::f32 ? ElementType::f64 : type;
}
constexpr bool has_wider_type(ElementType type) {
    return wider_type(type) != type;
}

/// How far one rounding to the type is off at most, relative to a value in its normal range.
double rounding_of(ElementType type);
/// The largest finite value of a floating-point type.
double largest_of(ElementType type);

/// Every element of `from` is one of the wider type. `in`: `count` elements of `from`; `out`: as
/// many of wider_type(from). Neither needs alignment; they do not overlap. Thread safe.
void widen(ElementType from, const void* in, std::size_t count, void* out);

/// Rounds `count` elements of wider_type(to) to the nearest of `to`, ties to even. Returns how far
/// the farthest of them is at most from the number it stands for, if each element of `in` is off by
/// up to `off`. NaN and Inf stay, and count for nothing. A finite element beyond the largest
/// becomes Inf where all numbers within `off` of it do, and else the largest. `out`: null if
/// nothing is to be written. Thread safe.
double narrow(ElementType to, const void* in, std::size_t count, double off, void* out);

/// The exponent of the lowest bit that is set in any finite element: all of them are whole
/// multiples of 2 to that power. `none` if all are zero. Thread safe.
int lowest_bit_of(ElementType type, const void* data, std::size_t count, int none);

}  // namespace gradcoll
