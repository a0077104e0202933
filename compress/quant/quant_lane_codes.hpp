// compress/quant/quant_lane_codes.hpp - the codes of a lane's neighbouring elements, as they lie in
// a payload.
#pragma once

#include "compress/quant/quant_layout.hpp"
#include "warp/memory.hpp"

namespace gradcoll::quant {

/// LaneCodes has the codes of a lane's `own` elements, which fill whole words.
template <class Warp, class W, int own>
struct LaneCodes {
    static constexpr int words = own * W::bits / 32;
    std::uint32_t word[words];

    constexpr void put(int i, int code) {
        constexpr std::uint32_t all = (1u << W::bits) - 1u;
        word[i * W::bits / 32] |= (static_cast<std::uint32_t>(code) & all) << (i * W::bits % 32);
    }
    constexpr int get(int i) const {
        const auto top = word[i * W::bits / 32] << (32 - W::bits - i * W::bits % 32);
        return static_cast<std::int32_t>(top) >> (32 - W::bits);
    }
    /// Returns whether the half byte behind an odd number of codes is 0.
    constexpr bool end_well(int present) const {
        if constexpr (W::bits != 4) return true;
        bool well = true;
#pragma unroll
        for (int i = 1; i < own; i += 2) well = well && (i != present || get(i) == 0);
        return well;
    }

    /// Loads all of them, `at_once` words by one instruction, which are aligned to their size.
    template <int at_once>
    static constexpr LaneCodes load_all(const std::byte* from) {
        LaneCodes codes{};
#pragma unroll
        for (int k = 0; k < words; k += at_once) {
            const auto part = Warp::template load<Words<at_once>>(from + 4 * k);
#pragma unroll
            for (int j = 0; j < at_once; ++j) codes.word[k + j] = part.word[j];
        }
        return codes;
    }
    template <int at_once>
    constexpr void store_all(std::byte* to) const {
#pragma unroll
        for (int k = 0; k < words; k += at_once) {
            Words<at_once> part{};
#pragma unroll
            for (int j = 0; j < at_once; ++j) part.word[j] = word[k + j];
            Warp::store(to + 4 * k, part);
        }
    }

    /// Loads the first `present`, at any multiple of two bytes.
    static constexpr LaneCodes load(const std::byte* from, int present) {
        LaneCodes codes{};
        const int bytes = bytes_of(present);
#pragma unroll
        for (int b = 0; b < 4 * words; b += 2) {
            std::uint32_t two = 0;
            if (b + 2 <= bytes)
                two = Warp::template load<std::uint16_t>(from + b);
            else if (b < bytes)
                two = Warp::template load<std::uint8_t>(from + b);
            codes.word[b / 4] |= two << (b % 4 * 8);
        }
        return codes;
    }
    constexpr void store(std::byte* to, int present) const {
        const int bytes = bytes_of(present);
#pragma unroll
        for (int b = 0; b < 4 * words; b += 2) {
            const std::uint32_t two = word[b / 4] >> (b % 4 * 8);
            if (b + 2 <= bytes)
                Warp::store(to + b, static_cast<std::uint16_t>(two));
            else if (b < bytes)
                Warp::store(to + b, static_cast<std::uint8_t>(two));
        }
    }

  private:
    static constexpr int bytes_of(int present) {
        return (present * W::bits + 7) / 8;
    }
};

}  // namespace gradcoll::quant
