// compress/quant/quant_lane_grid.hpp - the grid of a block as the lanes of a warp have it: its
// extremes from all of them, its header in memory, codes and elements.
#pragma once

#include "compress/quant/quant_lane_extremes.hpp"
#include "compress/quant/quant_rounding.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll::quant {

/// LaneGrid is the same in all lanes.
template <class Warp, class W, class Format>
struct LaneGrid {
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;

    Grid<Wide> grid;
    bool has_specials;

    /// Returns a grid over values that have this extent.
    template <class Rounding>
    static constexpr LaneGrid over(const Extent<Wide>& extent, const Rounding& rounding) {
        const CodeRange codes = extent.has_specials ? W::beside_specials() : W::all();
        return {Grid<Wide>::over(extent.lowest, extent.highest, rounding.spread_over(codes)),
                extent.has_specials};
    }

    /// Stores the header at any multiple of two bytes, by one lane.
    constexpr void store(std::byte* header) const {
        store_any<Warp>(header, bits_as<WideBits>(has_specials ? -grid.scale : grid.scale));
        store_any<Warp>(header + sizeof(Wide), bits_as<WideBits>(grid.offset));
    }
    static constexpr LaneGrid load(const std::byte* header) {
        const auto scale = bits_as<Wide>(load_any<Warp, WideBits>(header));
        const auto offset = bits_as<Wide>(load_any<Warp, WideBits>(header + sizeof(Wide)));
        return {{magnitude(scale), offset, 0}, is_negative(scale)};
    }
    constexpr bool is_valid() const { return is_finite(grid.scale) && is_finite(grid.offset); }

    /// Returns the code; `place` is that of the value in its block.
    template <class Rounding>
    constexpr int code_of(Bits value, const Rounding& rounding, unsigned place) const {
        const Wide wide = Float::widen_number(value);
        if (!is_finite(wide)) return special_of<W>(wide);
        const Wide steps = grid.steps_to(wide, has_specials ? W::beside_specials() : W::all());
        const auto draws = rounding.draws_from(WideBits{place}, WideBits{0});
        return static_cast<int>(to_nearest(rounding.template code_of<Wide>(steps, wide, draws)));
    }
    constexpr Bits element_of(int code) const {
        if (has_specials && is_special<W>(code)) return special<W, Format>(code);
        constexpr Bits largest = largest_finite_bits<Format>();
        return Float::narrow(grid.value_of(code, Float::widen_number(largest)));
    }
};

}  // namespace gradcoll::quant
