// compress/quant/quant_lane_extremes.hpp - the smallest and the largest value of a block, from all
// lanes of a warp.
#pragma once

#include "compress/quant/quant_grid.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/batch.hpp"

namespace gradcoll::quant {

/// Extent has the extremes of the finite values; 0 if there are none.
template <class Wide>
struct Extent {
    Wide lowest, highest;
    bool has_finite, has_specials;  ///< has_specials: there is NaN or Inf
};

/// Each lane adds its own values; then all ask together.
template <class Warp, class Wide>
class LaneExtremes {
    using WideFloat = FloatBits<typename WideFormatOf<Wide>::type>;
    using WideBits = typename WideFloat::Bits;

  public:
    constexpr void add(Wide value) {
        if (!is_finite(value)) {
            special_ = true;
        } else {
            lowest_ = value < lowest_ ? value : lowest_;
            highest_ = value > highest_ ? value : highest_;
        }
    }
    constexpr Extent<Wide> of_all_lanes() const {
        Wide lowest = lowest_, highest = highest_;
#pragma unroll
        for (unsigned x = 1; x < warp_lanes; x *= 2) {
            const Wide low = of_lane(lowest, x), high = of_lane(highest, x);
            lowest = low < lowest ? low : lowest;
            highest = high > highest ? high : highest;
        }
        const bool any = lowest <= highest;
        return {any ? lowest : Wide{0}, any ? highest : Wide{0}, any, Warp::ballot(special_) != 0};
    }

  private:
    static constexpr Wide of_lane(Wide value, unsigned distance) {
        return bits_as<Wide>(Warp::shuffle(bits_as<WideBits>(value), Warp::lane() ^ distance));
    }

    Wide lowest_ = bits_as<Wide>(WideFloat::infinity);
    /// This is not -lowest_: nvcc 13.0 makes a kernel of that that does nothing (docs/gotchas.md).
    Wide highest_ = bits_as<Wide>(WideFloat::sign | WideFloat::infinity);
    bool special_ = false;
};

}  // namespace gradcoll::quant
