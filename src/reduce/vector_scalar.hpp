// reduce/vector_scalar.hpp - 16-byte vectors, which compilers lower to whatever any CPU has.
#pragma once

#include <cstddef>

#include "reduce/vector.hpp"

namespace gradcoll::vectors {
namespace {

struct Scalar {
    static constexpr std::size_t vector_bytes = 16;
    static constexpr bool converts_fp16 = false;

    template <class V>
    [[gnu::always_inline]] static void stream(void* to, V vector) {
        store_vector(to, vector);
    }
    static void fence() {}

    /// Returns the larger or the smaller of a and b, if neither is NaN.
    template <bool larger, class V>
    [[gnu::always_inline]] static V extreme(V a, V b) {
        using Bits = decltype(a < b);
        const V one = larger ? (a > b ? a : b) : (a < b ? a : b);
        const V other = larger ? (b > a ? b : a) : (b < a ? b : a);
        // These two differ only where they are zeros of both signs.
        const auto x = __builtin_bit_cast(Bits, one), y = __builtin_bit_cast(Bits, other);
        return __builtin_bit_cast(V, larger ? x & y : x | y);
    }
    /// Returns `nan` where a or b is NaN, else `result`.
    template <class V>
    [[gnu::always_inline]] static V or_nan(V a, V b, V result, V nan) {
        return ((a == a) & (b == b)) ? result : nan;
    }
};

}  // namespace
}  // namespace gradcoll::vectors
