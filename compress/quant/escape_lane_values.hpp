// compress/quant/escape_lane_values.hpp - the values of a block as GridChoice asks for them, each
// lane having some of them. All lanes ask together, and get the same answers.
#pragma once

#include "compress/quant/escape_rule.hpp"
#include "compress/quant/quant_lane_share.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/lanes.hpp"

namespace gradcoll::quant {

template <class Warp, class T, bool with_residual, bool aligned>
class LaneValues {
    using Float = LaneFloat<Warp, T>;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using WideBits = typename Float::WideBits;
    using Share = LaneShare<Warp, escape_block_elems, aligned>;

  public:
    static constexpr int own = Share::own;

    /// Reads the block's elements, and with a residual adds that.
    static constexpr LaneValues of(const WarpJob& job, std::size_t block) {
        const std::size_t first = block * escape_block_elems, left = job.count - first;
        LaneValues values{};
        values.share_ = Share::of(block, job.count);
        values.in_ = job.in + first * sizeof(Bits);
        values.count_ = left < escape_block_elems ? left : escape_block_elems;
        values.elements_ = values.share_.template load<Bits>(job.in);
        if constexpr (with_residual) {
            values.residual_ = job.residual + first * sizeof(WideBits);
            const auto residuals = values.share_.template load<WideBits>(job.residual);
#pragma unroll
            for (int i = 0; i < own; ++i)
                values.wanted_.at[i] = Float::wanted(values.elements_.at[i], residuals.at[i]);
        }
        return values;
    }

    constexpr std::size_t count() const {
        return count_;
    }
    /// Returns the share of this lane.
    constexpr const Share& share() const {
        return share_;
    }
    constexpr Wide wanted(int i) const {
        if constexpr (with_residual) return wanted_.at[i];
        return Float::widen_number(elements_.at[i]);
    }
    /// Returns the element that goes out where no code stands for it.
    constexpr Bits as_element(int i) const {
        if constexpr (with_residual) return Float::narrow(wanted_.at[i]);
        return elements_.at[i];
    }
    /// Returns the first value of the block.
    constexpr Wide first_wanted() const {
        return of_lane(wanted(0), 0);
    }
    constexpr bool all_same() const {
        const auto first = bits_as<WideBits>(first_wanted());
        bool differs = false;
#pragma unroll
        for (int i = 0; i < own; ++i)
            differs = differs || (i < share_.present && bits_as<WideBits>(wanted(i)) != first);
        return Warp::ballot(differs) == 0;
    }

    template <bool>
    constexpr std::size_t count_in(const Window<Wide>& window) const {
        return sum_of_lanes<Warp>(own_in(window));
    }
    /// Counts the values of several windows at once: three counts of up to 512 are one word.
    constexpr void count_around_zero(const Window<Wide>* windows, std::size_t* counts) const {
        constexpr unsigned bits = 10;
        static_assert(windows_around_zero * bits <= 32 && escape_block_elems < 1u << bits);
        std::uint32_t mine = 0;
#pragma unroll
        for (unsigned k = 0; k < windows_around_zero; ++k) mine |= own_in(windows[k]) << (k * bits);
        const std::uint32_t all = sum_of_lanes<Warp>(mine);
#pragma unroll
        for (unsigned k = 0; k < windows_around_zero; ++k)
            counts[k] = all >> (k * bits) & ((1u << bits) - 1u);
    }
    /// Returns the median. Each lane reads a sample once more, since registers have no index. The
    /// first among equal ones comes first.
    constexpr Wide sample_median(bool of_magnitudes) const {
        const unsigned lane = Warp::lane();
        const Wide drawn = lane < median_samples ? drawn_at(lane * count_ / median_samples) : 0;
        const Wide finite = is_finite(drawn) ? drawn : Wide{0};
        const Wide mine = of_magnitudes ? bound::magnitude(finite) : finite;
        unsigned smaller = 0;
#pragma unroll
        for (unsigned other = 0; other < median_samples; ++other) {
            const Wide value = of_lane(mine, other);
            if (value < mine || (value == mine && other < lane)) ++smaller;
        }
        const bool is_median = lane < median_samples && smaller == median_samples / 2;
        return of_lane(mine, first_lane_of<Warp>(Warp::ballot(is_median)));
    }

  private:
    constexpr std::uint32_t own_in(const Window<Wide>& window) const {
        std::uint32_t count = 0;
#pragma unroll
        for (int i = 0; i < own; ++i)
            if (i < share_.present && window.has(wanted(i))) ++count;
        return count;
    }
    constexpr Wide drawn_at(std::size_t place) const {
        const auto element = Warp::template load<Bits>(in_ + place * sizeof(Bits));
        if constexpr (with_residual) {
            const std::byte* const at = residual_ + place * sizeof(WideBits);
            return Float::wanted(element, Warp::template load<WideBits>(at));
        }
        return Float::widen_number(element);
    }
    static constexpr Wide of_lane(Wide value, unsigned lane) {
        return bits_as<Wide>(Warp::shuffle(bits_as<WideBits>(value), lane));
    }

    Share share_;
    const std::byte* in_;        ///< begin of the block
    const std::byte* residual_;  ///< begin of the block's residuals
    std::size_t count_;
    Run<Bits, own> elements_;
    Run<Wide, own> wanted_;  ///< values with the residual added
};

}  // namespace gradcoll::quant
