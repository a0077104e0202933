// compress/quant/quant_lane_grid.hpp - the grid of a block as the lanes of a warp have it: its
// extremes from all of them, its header in memory, codes and elements.
#pragma once

#include "compress/quant/quant_grid.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll::quant {

/// The same in all lanes.
template <class Warp, class W, class Format>
struct LaneGrid {
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;

    Grid<Wide> grid;
    bool has_specials;

    /// Of the values that lanes add, each its own.
    class Extremes {
      public:
        constexpr void add(Bits value) {
            const Wide wide = Float::widen_number(value);
            if (!is_finite(wide)) {
                special_ = true;
            } else {
                lowest_ = wide < lowest_ ? wide : lowest_;
                highest_ = wide > highest_ ? wide : highest_;
            }
        }
        /// By all lanes together.
        constexpr LaneGrid grid() const {
            Wide lowest = lowest_, highest = highest_;
#pragma unroll
            for (unsigned x = 1; x < warp_lanes; x *= 2) {
                const Wide low = of_lane(lowest, x), high = of_lane(highest, x);
                lowest = low < lowest ? low : lowest;
                highest = high > highest ? high : highest;
            }
            const bool any = lowest <= highest, special = Warp::ballot(special_) != 0;
            const CodeRange codes = special ? W::beside_specials() : W::all();
            return {Grid<Wide>::over(any ? lowest : Wide{0}, any ? highest : Wide{0}, codes),
                    special};
        }

      private:
        static constexpr Wide of_lane(Wide value, unsigned distance) {
            return bits_as<Wide>(Warp::shuffle(bits_as<WideBits>(value), Warp::lane() ^ distance));
        }

        Wide lowest_ = bits_as<Wide>(FloatBits<typename WideFormatOf<Wide>::type>::infinity);
        Wide highest_ = -lowest_;
        bool special_ = false;
    };

    /// At any multiple of two bytes, by one lane.
    constexpr void store(std::byte* header) const {
        store_any<Warp>(header, bits_as<WideBits>(has_specials ? -grid.scale : grid.scale));
        store_any<Warp>(header + sizeof(Wide), bits_as<WideBits>(grid.offset));
    }
    static constexpr LaneGrid load(const std::byte* header) {
        const auto scale = bits_as<Wide>(load_any<Warp, WideBits>(header));
        const auto offset = bits_as<Wide>(load_any<Warp, WideBits>(header + sizeof(Wide)));
        return {{magnitude(scale), offset, 0}, is_negative(scale)};
    }
    constexpr bool is_valid() const {
        return is_finite(grid.scale) && is_finite(grid.offset);
    }

    constexpr int code_of(Bits value) const {
        const Wide wide = Float::widen_number(value);
        if (!is_finite(wide)) return special_of<W>(wide);
        return grid.code_of(wide, has_specials ? W::beside_specials() : W::all());
    }
    constexpr Bits element_of(int code) const {
        if (has_specials && is_special<W>(code)) return special<W, Format>(code);
        constexpr Bits largest = largest_finite_bits<Format>();
        return Float::narrow(grid.value_of(code, Float::widen_number(largest)));
    }
};

}  // namespace gradcoll::quant
