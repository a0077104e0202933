// compress/zip/zip_bytes_neon.hpp - zip_bytes.hpp on the 128-bit registers of AArch64.
#pragma once

#include "compress/lanes/neon.hpp"
#include "compress/zip/zip_bytes.hpp"

namespace gradcoll::zip {
namespace {

template <>
struct ByteMoves<Neon> {
    static constexpr std::size_t vector_bytes = 16;

    static std::uint64_t top_bits(const std::uint8_t* bytes) {
        uint8x16_t flags[4];
        for (int k = 0; k < 4; ++k)
            flags[k] =
                vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(vld1q_u8(bytes + 16 * k)), 7));
        return bits_of_flags(flags);
    }
    static void add_where(std::uint64_t bits, std::uint8_t one, std::uint8_t* bytes) {
        const uint8x16_t place = bit_of_byte();
        for (int k = 0; k < 4; ++k) {
            const auto low = static_cast<std::uint8_t>(bits >> 16 * k);
            const auto high = static_cast<std::uint8_t>(bits >> (16 * k + 8));
            const uint8x16_t all = vcombine_u8(vdup_n_u8(low), vdup_n_u8(high));
            const uint8x16_t ones = vandq_u8(vtstq_u8(all, place), vdupq_n_u8(one));
            vst1q_u8(bytes + 16 * k, vaddq_u8(vld1q_u8(bytes + 16 * k), ones));
        }
    }
    template <class V>
    [[gnu::always_inline]] static void store_low_bytes(void* to, V words) {
        if constexpr (sizeof(words[0]) == 2)
            store_vector(to, vmovn_u16(bit_copy<uint16x8_t>(words)));
        else
            ByteMoves<Scalar>::store_low_bytes(to, words);
    }
    template <class V>
    [[gnu::always_inline]] static V load_bytes(const std::uint8_t* from) {
        if constexpr (sizeof(V{}[0]) == 2) {
            return bit_copy<V>(vmovl_u8(vld1_u8(from)));
        } else if constexpr (sizeof(V{}[0]) == 4) {
            const uint8x8_t four =
                vreinterpret_u8_u32(vdup_n_u32(load_vector<std::uint32_t>(from)));
            return bit_copy<V>(vmovl_u16(vget_low_u16(vmovl_u8(four))));
        } else {
            return ByteMoves<Scalar>::load_bytes<V>(from);
        }
    }
};

}  // namespace
}  // namespace gradcoll::zip
