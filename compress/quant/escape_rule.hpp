// compress/quant/escape_rule.hpp - what a value may lose, and which grid serves a block best. Every
// step of the arithmetic is one rounded operation, so that all instruction sets agree. Shared by
// host and device.
#pragma once

#include <cstddef>

#include "compress/bound/bound_grid.hpp"
#include "compress/quant/escape_layout.hpp"
#include "compress/quant/quant_grid.hpp"

namespace gradcoll::quant {
namespace {

/// This is the smallest magnitude with all its digits; smaller ones come back bit by bit.
template <class T>
inline constexpr double smallest_normal = T::fraction_bits == 10   ? 0x1p-14
                                          : T::fraction_bits == 52 ? 0x1p-1022
                                                                   : 0x1p-126;

/// This is the largest finite magnitude.
template <class T>
inline constexpr double largest_value = T::fraction_bits == 10   ? 0x1.ffcp15
                                        : T::fraction_bits == 7  ? 0x1.fep127
                                        : T::fraction_bits == 23 ? 0x1.fffffep127
                                                                 : 0x1.fffffffffffffp1023;

/// Look says what is asked of a value of a block before its code is taken.
enum class Look {
    at_nothing,  ///< the grid brings all of them back near enough
    at_loss,     ///< whether it comes back near enough; no value has to come back bit by bit
    at_all
};

/// Loss is what a call may lose an element: `abs`, or `rel` times its magnitude; the other one is
/// 0.
template <class Wide>
struct Loss {
    using N = bound::Numbers<Wide>;

    double abs, rel;
    /// The limits are less by so much that no rounding of a difference or product hides a larger
    /// one.
    Wide abs_limit, rel_limit;
    /// From here up products of a magnitude and rel_limit are not subnormal.
    Wide least_usual;

    static constexpr Loss of(double abs, double told_rel) {
        const double rel = told_rel >= N::smallest_abs ? told_rel : 0;
        const auto rel_limit = static_cast<Wide>(rel * (1 - 8 * N::rounding));
        return {abs, rel, bound::Tolerance<Wide>::of(abs).limit, rel_limit,
                rel_limit == 0 ? Wide{0} : 2 * (WideFormat<Wide>::smallest_normal / rel_limit)};
    }
    /// Returns the magnitude from which values are asked for their loss alone.
    template <class T>
    constexpr Wide least_size() const {
        constexpr auto normal = static_cast<Wide>(smallest_normal<T>);
        return least_usual > normal ? least_usual : normal;
    }
    constexpr bool is_none() const { return abs_limit == 0 && rel_limit == 0; }

    /// Returns whether `sent` may stand for `value`: it is near enough, and for zeros and
    /// subnormals the same.
    template <class T>
    constexpr bool takes(Wide value, Wide sent) const {
        const Wide size = bound::magnitude(value);
        if (size < static_cast<Wide>(smallest_normal<T>)) return same_bits(value, sent);
        return rel_limit == 0
                   ? bound::magnitude(value - sent) <= abs_limit
                   : is_finite(value) && bound::magnitude(value - sent) <= relative_limit(size);
    }

  private:
    /// Returns the limit for a magnitude; 0 for a subnormal product, which may have been rounded up
    /// by much.
    constexpr Wide relative_limit(Wide size) const {
        const Wide product = size * rel_limit;
        return product >= WideFormat<Wide>::smallest_normal ? product : Wide{0};
    }
    static constexpr bool same_bits(Wide a, Wide b) {
        using Bits = typename WideFormat<Wide>::Bits;
        return bit_copy<Bits>(a) == bit_copy<Bits>(b);
    }
};

/// Window has the values that codes can be near to: up to `reach` from `centre`, and either 0 or no
/// smaller than `least`.
template <class Wide>
struct Window {
    Wide centre, reach, least;

    constexpr bool has(Wide value) const {
        return bound::magnitude(value - centre) <= reach &&
               (value == 0 || bound::magnitude(value) >= least);
    }
};

/// This many windows of different width are counted in one go.
inline constexpr std::size_t windows_around_zero = 3;

/// This many values are drawn to find where most are.
inline constexpr std::size_t median_samples = 9;

/// GridChoice chooses the grid of a block: one over all its values if that keeps the tolerance,
/// else the window that has the most of them. `Values` are those of the block:
///   count()
///   count_in<is_relative>(window)         how many it has; one that is not relative has no `least`
///   count_around_zero(windows, counts)    the same of several relative ones
///   sample_median(of_magnitudes)          of median_samples values, the s-th at s count / samples,
///                                         or of their magnitudes; what is not finite counts as 0
template <class W, class T, class Values>
class GridChoice {
    using Wide = typename T::Wide;
    using N = bound::Numbers<Wide>;
    static constexpr CodeRange codes = beside_mark<W>;
    static constexpr auto last = static_cast<Wide>(codes.highest);  // as far as to the lowest one

  public:
    constexpr GridChoice(const Values& values, const Loss<Wide>& loss)
        : values_(values), loss_(loss) {}

    /// Chooses the grid. Returns false if no grid is worth it.
    constexpr bool make(Wide lowest, Wide highest) {
        if (loss_.rel == 0)
            choose_for_abs(lowest, highest);
        else
            choose_for_rel(lowest, highest);
        return best_.scale > 0;
    }
    constexpr const Grid<Wide>& grid() const { return best_; }
    /// Returns how many values are in reach of its codes.
    constexpr std::size_t in_reach() const { return count_; }
    /// Returns whether all values come back near enough (README.md, "Where nothing is asked").
    constexpr bool is_sure() const { return is_sure_; }

  private:
    /// Returns whether the grid has such a share of the values that it is not worth looking
    /// further.
    constexpr bool is_good() const { return count_ >= values_.count() - values_.count() / 16; }

    constexpr void choose_for_abs(Wide lowest, Wide highest) {
        const Grid<Wide> over_all = spread(lowest, highest);
        const Wide most = larger(bound::magnitude(lowest), bound::magnitude(highest));
        const Wide step = step_for(most + loss_.abs);
        if (over_all.scale <= step) {
            is_sure_ = is_near_to_all(over_all, step, most);
            return take(over_all, values_.count());
        }
        // All values of a window are near a code; outside none is.
        const Wide half = last * step_for(width());
        const bool has_zero = lowest <= 0 && highest >= 0;
        try_around(has_zero ? Wide{0} : lowest + half);
        if (is_good()) return;
        if (has_zero) try_around(lowest + half);
        try_around(highest - half);
        try_around(values_.sample_median(false));
    }

    /// Chooses a grid for a tolerance of `rel` |x|, with which a step serves all values that are
    /// not too small for it.
    constexpr void choose_for_rel(Wide lowest, Wide highest) {
        consider(spread(lowest, highest));
        if (is_good()) return;
        const Wide usual = values_.sample_median(true);
        Grid<Wide> grids[windows_around_zero] = {};
        Window<Wide> windows[windows_around_zero] = {};
        std::size_t counts[windows_around_zero] = {};
        Wide times = 8;
        for (std::size_t k = 0; k < windows_around_zero; ++k, times /= 2) {
            const Wide step = usual * (times / last);
            grids[k] = {step, 0, 1 / step};
            windows[k] = relative_window(grids[k]);
        }
        values_.count_around_zero(windows, counts);
        for (std::size_t k = 0; k < windows_around_zero; ++k)
            if (grids[k].scale >= WideFormat<Wide>::smallest_normal)
                take_if_better(grids[k], counts[k]);
    }
    constexpr void consider(const Grid<Wide>& grid) {
        take_if_better(grid, values_.template count_in<true>(relative_window(grid)));
    }
    constexpr Window<Wide> relative_window(const Grid<Wide>& grid) const {
        const double smallest = grid.scale / 2 / loss_.rel;
        const auto least = static_cast<Wide>(smallest < N::largest ? smallest : N::largest);
        return {grid.offset, grid.scale * last, least};
    }

    constexpr void try_around(Wide centre) {
        const Wide step = step_for(bound::magnitude(centre) + width());
        if (step == 0) return;
        const Wide inverse = 1 / step;
        // The centre is a whole number of steps from 0, so that it has a code.
        const Wide offset = to_nearest(centre * inverse) * step;
        const Window<Wide> window{offset, step * last, 0};
        take_if_better({step, offset, inverse}, values_.template count_in<false>(window));
    }
    constexpr void take_if_better(const Grid<Wide>& grid, std::size_t count) {
        if (count > count_) take(grid, count);
    }
    constexpr void take(const Grid<Wide>& grid, std::size_t count) {
        best_ = grid;
        count_ = count;
    }

    static constexpr Grid<Wide> spread(Wide lowest, Wide highest) {
        Grid<Wide> grid = Grid<Wide>::over(lowest, highest, codes);
        if (grid.scale == 0) {  // equal values that are no constant block: what is 0 is escaped
            grid.scale = WideFormat<Wide>::smallest_normal;
            grid.inverse = 1 / grid.scale;
        }
        return grid;
    }

    /// Returns whether steps leave room for what is rounded once more than step_for() counts on,
    /// nothing was cut short there, and no value comes back as Inf.
    constexpr bool is_near_to_all(const Grid<Wide>& grid, Wide step, Wide most) const {
        const double reach = static_cast<double>(most) + loss_.abs;
        return grid.scale + 16 * N::rounding * most <= step &&
               bound::half_unit<T>(reach) <= loss_.abs / 2 && reach <= largest_value<T>;
    }

    /// Returns a width that is more than the distance of the largest code from the middle one.
    constexpr double width() const { return 2 * static_cast<double>(last) * loss_.abs; }

    /// Returns the largest step that keeps `abs` for values up to `most`, whatever is rounded on
    /// the way; 0 if there is none.
    constexpr Wide step_for(double most) const {
        const double half = bound::half_unit<T>(most);
        const double narrowing = half < loss_.abs / 2 ? half : loss_.abs / 2;
        const double left = loss_.abs - narrowing - 4 * N::rounding * most;
        const double step = 2 * left * (1 - 4 * N::rounding * (1 << W::bits));
        if (!(step >= N::smallest_step) || most > step * N::largest_code) return 0;
        return static_cast<Wide>(step < N::largest_step ? step : N::largest_step);
    }
    static constexpr Wide larger(Wide a, Wide b) { return a > b ? a : b; }

    const Values& values_;
    const Loss<Wide>& loss_;
    Grid<Wide> best_{};
    std::size_t count_ = 0;
    bool is_sure_ = false;
};

}  // namespace
}  // namespace gradcoll::quant
