// base/round.hpp - sizes as multiples of what they are allocated, aligned or sent in.
#pragma once

namespace gradcoll {

/// The least multiple of `to` that is not less. `to` > 0, and the result fits.
template <class Size>
constexpr Size rounded_up(Size bytes, Size to) {
    return (bytes + to - 1) / to * to;
}

}  // namespace gradcoll
