// compress/quant/quant_rounding.hpp - how a number of steps becomes a code: to the nearest one, or
// by chance to one of the two around it, so that the mean is right. Shared by host and device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/lanes/scalar.hpp"
#include "compress/quant/quant_grid.hpp"

namespace gradcoll::quant {
namespace {

struct ToNearest {
    /// Ignores the seed.
    static constexpr ToNearest of(std::uint32_t) { return {}; }
    /// Returns the codes that the values of a block are spread over.
    static constexpr CodeRange spread_over(CodeRange codes) { return codes; }
    /// Returns what rounds to the code; `steps` lie between the value and code 0.
    template <class Wide, class Value, class Bits>
    [[gnu::always_inline]] constexpr Value code_of(Value steps, Value, Bits) const {
        return steps;
    }
    template <class Bits, class Place>
    [[gnu::always_inline]] constexpr Bits draws_from(Place, Bits) const {
        return Bits{};
    }
};

/// ByChance draws chance from the seed, the bits of the value and its place in the block: all ranks
/// and instruction sets draw the same. 0 stays 0.
class ByChance {
  public:
    explicit constexpr ByChance(std::uint32_t seed) : seed_(seed * 0x9e3779b1U) {}
    static constexpr ByChance of(std::uint32_t seed) { return ByChance(seed); }

    /// Returns fewer codes than there are. The grid moves by up to half a step, so that zero has a
    /// code: that far beyond both ends there must be codes, too, or the mean would not be right at
    /// the ends.
    static constexpr CodeRange spread_over(CodeRange codes) {
        return {codes.lowest + 1, codes.highest - 1};
    }
    /// Returns what seed and place add to chance, for the places first, first + 1, ... of a
    /// register; `lanes` are 0, 1, ...: a constant, and so is its product.
    template <class Bits, class Place>
    [[gnu::always_inline]] constexpr Bits draws_from(Place first, Bits lanes) const {
        return lanes * 0x85ebca6bU + static_cast<Place>(first * 0x85ebca6bU + seed_);
    }
    /// Returns the code of one value, with Bits as long as it, or those of registers of both. With
    /// a step's fraction f it is the upper code with probability f.
    template <class Wide, class Value, class Bits>
    [[gnu::always_inline]] constexpr Value code_of(Value steps, Value value, Bits draws) const {
        constexpr auto sign = typename WideFormat<Wide>::Bits{1} << (8 * sizeof(Wide) - 1);
        constexpr auto one = __builtin_bit_cast(typename WideFormat<Wide>::Bits, Wide{1});
        const Value nearest = steps + WideFormat<Wide>::rounder - WideFormat<Wide>::rounder;
        const auto rest = bit_copy<Bits>(steps - nearest);
        const auto other = nearest + bit_copy<Value>((rest & sign) | one);
        const auto moves =
            chance<Wide, Value>(bit_copy<Bits>(value), draws) < bit_copy<Value>(rest & ~sign);
        const auto is_zero = value == Value{};
        return is_zero ? nearest : moves ? other : nearest;
    }

  private:
    /// Returns a chance above 0 and below 1, in equal steps (lowbias32 of C. Wellons, "Hash
    /// Prospector", 2018).
    template <class Wide, class Value, class Bits>
    [[gnu::always_inline]] static constexpr Value chance(Bits value, Bits draws) {
        constexpr bool is_fp64 = sizeof(Wide) == sizeof(double);
        Bits mixed = value;
        if constexpr (is_fp64) mixed = value ^ low(value >> 32) * 0x9e3779b1U;
        mixed = low(mixed ^ draws);
        mixed = low((mixed ^ mixed >> 16) * 0x7feb352dU);
        mixed = low((mixed ^ mixed >> 15) * 0x846ca68bU);
        mixed ^= mixed >> 16;
        if constexpr (is_fp64)
            return bit_copy<Value>(mixed << 20 | 0x3ff0000000000000U) - (1.0 - 0x1p-33);
        else
            return bit_copy<Value>(mixed >> 9 | 0x3f800000U) - (1.0F - 0x1p-24F);
    }
    template <class Bits>
    [[gnu::always_inline]] static constexpr Bits low(Bits bits) {
        return bits & 0xffffffffU;
    }

    std::uint32_t seed_;
};

}  // namespace
}  // namespace gradcoll::quant
