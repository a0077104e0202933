// base/round.hpp - sizes as multiples of what they are allocated, aligned or sent in.
#pragma once

namespace gradcoll {

/// Returns how many parts of `size` it takes for all. `size` > 0, and the sum of both fits.
template <class Size>
constexpr Size divided_up(Size all, Size size) {
    return (all + size - 1) / size;
}

/// Returns the least multiple of `to` that is not less. `to` > 0, and the result fits.
template <class Size>
constexpr Size rounded_up(Size bytes, Size to) {
    return divided_up(bytes, to) * to;
}

}  // namespace gradcoll
