// compress/quant/escape_values.hpp - the values of a block as GridChoice asks for them, on the CPU.
#pragma once

#include <cstddef>

#include "compress/quant/escape_rule.hpp"

namespace gradcoll::quant {
namespace {

/// Finds the extremes of the finite values; false if there are none.
template <class Wide>
inline bool finite_extremes(const Wide* wanted, std::size_t elems, Wide& lowest, Wide& highest) {
    bool found = false;
    for (std::size_t i = 0; i < elems; ++i) {
        if (!is_finite(wanted[i])) continue;
        if (!found || wanted[i] < lowest) lowest = wanted[i];
        if (!found || wanted[i] > highest) highest = wanted[i];
        found = true;
    }
    return found;
}

/// Returns the median of some of the values, or of their magnitudes: good enough to find where most
/// are.
template <class Wide>
inline Wide sample_median(const Wide* wanted, std::size_t elems, bool of_magnitudes) {
    constexpr std::size_t samples = median_samples;
    Wide sorted[samples];
    for (std::size_t s = 0; s < samples; ++s) {
        const Wide drawn = wanted[s * elems / samples];
        const Wide finite = is_finite(drawn) ? drawn : Wide{0};
        const Wide value = of_magnitudes ? bound::magnitude(finite) : finite;
        std::size_t at = s;
        for (; at > 0 && sorted[at - 1] > value; --at) sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    return sorted[samples / 2];
}

/// `Block` counts (escape_scalar_block.hpp).
template <class Wide, class Block>
struct BlockValues {
    const Wide* wanted;
    std::size_t elems;

    std::size_t count() const { return elems; }
    template <bool is_relative>
    std::size_t count_in(const Window<Wide>& window) const {
        return Block::template count_in<is_relative>(wanted, window, elems);
    }
    void count_around_zero(const Window<Wide>* windows, std::size_t* counts) const {
        Block::count_around_zero(wanted, windows, counts, elems);
    }
    Wide sample_median(bool of_magnitudes) const {
        return quant::sample_median(wanted, elems, of_magnitudes);
    }
};

}  // namespace
}  // namespace gradcoll::quant
