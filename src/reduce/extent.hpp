// reduce/extent.hpp - the smallest and the largest element of a vector.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reduce/element_type.hpp"

namespace gradcoll {

/// Extent has the extremes of the finite elements; both are 0 if there are none.
struct Extent {
    double lowest = 0;
    double highest = 0;

    double range() const { return highest - lowest; }
    double largest_magnitude() const { return std::max(std::abs(lowest), std::abs(highest)); }
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// Finds the extent of elements of a floating-point type. `data` needs no alignment.
Extent extent_of(ElementType type, const void* data, std::size_t count);

}  // namespace gradcoll
