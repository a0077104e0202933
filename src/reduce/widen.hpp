// reduce/widen.hpp - vectors in a wider floating-point type, whose additions are off by less, and
// back with one rounding.
#pragma once

#include <cstddef>
#include <span>

#include "reduce/element_type.hpp"

namespace gradcoll {

/// Returns fp32 for the 16-bit floats, and fp64 for fp32. fp64 and all other types have no wider
/// one, and give themselves.
constexpr ElementType wider_type(ElementType type) {
    if (type == ElementType::f16 || type == ElementType::bf16) return ElementType::f32;
    return type == ElementType::f32 ? ElementType::f64 : type;
}
constexpr bool has_wider_type(ElementType type) {
    return wider_type(type) != type;
}

/// Returns how far one rounding to the type is off at most, relative to a value in its normal
/// range.
double rounding_of(ElementType type);
/// Returns the largest finite value of a floating-point type.
double largest_of(ElementType type);

/// Converts every element of `from` to the wider type. `in` has `count` elements of `from`; `out`
/// as many of wider_type(from). Neither needs alignment; they do not overlap. Thread safe.
void widen(ElementType from, const void* in, std::size_t count, void* out);

/// Converts elements of a floating-point type to fp64. `in` needs no alignment. Thread safe.
void to_doubles(ElementType from, const void* in, std::span<double> out);

/// Rounds `count` elements of wider_type(to) to the nearest of `to`, ties to even. Returns how far
/// the farthest of them is at most from the number it stands for, if each element of `in` is off by
/// up to `off`. NaN and Inf stay, and count for nothing. A finite element beyond the largest
/// becomes Inf where all numbers within `off` of it do, and else the largest. `out`: null if
/// nothing is to be written. Thread safe.
double narrow(ElementType to, const void* in, std::size_t count, double off, void* out);

/// Returns the exponent of the lowest bit that is set in any finite element: all of them are whole
/// multiples of 2 to that power. It is `none` if all are zero. Thread safe.
int lowest_bit_of(ElementType type, const void* data, std::size_t count, int none);

}  // namespace gradcoll
