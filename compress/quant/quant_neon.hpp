// compress/quant/quant_neon.hpp - what quant_vector_block.hpp and escape_vector_block.hpp ask of
// the 128-bit registers of AArch64.
#pragma once

#include "compress/lanes/neon.hpp"
#include "compress/quant/quant_masks.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll::quant {
namespace {

template <>
struct Instructions<Neon> : Neon, LaneMasks {
    template <class Code>
    static void store_codes(std::byte* to, const Floats (&steps)[4]) {
        store_words<Code>(to, words_of(steps[0], steps[1]), words_of(steps[2], steps[3]));
    }
    template <class Code>
    static void store_codes(std::byte* to, const Doubles (&steps)[4]) {
        const int32x4_t first = whole_numbers(steps[0], steps[1]);
        const int32x4_t last = whole_numbers(steps[2], steps[3]);
        const int16x8_t words = vcombine_s16(vqmovn_s32(first), vqmovn_s32(last));
        if constexpr (sizeof(Code) == 1)
            store_vector(to, vqmovn_s16(words));
        else
            store_vector(to, words);
    }
    template <class Code>
    static Floats load_codes(const std::byte* from, Floats) {
        int16x4_t words;
        if constexpr (sizeof(Code) == 1) {
            const auto four = load_vector<std::uint32_t>(from);
            words = vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four))));
        } else {
            words = load_vector<int16x4_t>(from);
        }
        return bit_copy<Floats>(vcvtq_f32_s32(vmovl_s16(words)));
    }
    template <class Code>
    static Doubles load_codes(const std::byte* from, Doubles) {
        return Doubles{static_cast<double>(load_vector<Code>(from)),
                       static_cast<double>(load_vector<Code>(from + sizeof(Code)))};
    }

    template <class Mask>
    static std::uint32_t bits(Mask mask) {
        if constexpr (lanes_of<Mask> == 4) {
            const uint32x4_t place = {1, 2, 4, 8};
            return vaddvq_u32(vandq_u32(bit_copy<uint32x4_t>(mask), place));
        } else {
            const uint64x2_t place = {1, 2};
            return static_cast<std::uint32_t>(
                vaddvq_u64(vandq_u64(bit_copy<uint64x2_t>(mask), place)));
        }
    }
    template <class Code>
    static std::uint64_t equal_codes(const std::byte* codes, Code value) {
        uint8x16_t flags[4];
        for (std::size_t k = 0; k < 4; ++k)
            flags[k] = equal_part(codes + 16 * k * sizeof(Code), value);
        return bits_of_flags(flags);
    }

  private:
    static int16x8_t words_of(Floats a, Floats b) {
        return vcombine_s16(vqmovn_s32(vcvtnq_s32_f32(bit_copy<float32x4_t>(a))),
                            vqmovn_s32(vcvtnq_s32_f32(bit_copy<float32x4_t>(b))));
    }
    static int32x4_t whole_numbers(Doubles a, Doubles b) {
        return vcombine_s32(vqmovn_s64(vcvtnq_s64_f64(bit_copy<float64x2_t>(a))),
                            vqmovn_s64(vcvtnq_s64_f64(bit_copy<float64x2_t>(b))));
    }
    template <class Code>
    static void store_words(std::byte* to, int16x8_t first, int16x8_t last) {
        if constexpr (sizeof(Code) == 1) {
            store_vector(to, vcombine_s8(vqmovn_s16(first), vqmovn_s16(last)));
        } else {
            store_vector(to, first);
            store_vector(to + 16, last);
        }
    }
    /// Compares 16 codes.
    static uint8x16_t equal_part(const std::byte* codes, std::int8_t value) {
        return vceqq_s8(load_vector<int8x16_t>(codes), vdupq_n_s8(value));
    }
    static uint8x16_t equal_part(const std::byte* codes, std::int16_t value) {
        const int16x8_t all = vdupq_n_s16(value);
        return vcombine_u8(vmovn_u16(vceqq_s16(load_vector<int16x8_t>(codes), all)),
                           vmovn_u16(vceqq_s16(load_vector<int16x8_t>(codes + 16), all)));
    }
};

}  // namespace
}  // namespace gradcoll::quant
