// compress/nm/nm_packer_neon.hpp - packing on the 128-bit registers of AArch64 (nm_window.hpp): an
// instruction permutes bytes as a table says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/lanes/neon.hpp"
#include "compress/nm/nm_packer_tables.hpp"
#include "compress/nm/nm_window.hpp"

namespace gradcoll::nm {
namespace {

/// NeonInt has the operations that TablePacker asks for.
template <class Bits>
struct NeonInt {
    using Register = uint8x16_t;
    static constexpr int lanes = 16 / static_cast<int>(sizeof(Bits));
    static constexpr PermuteTables<lanes, sizeof(Bits)> tables{};

    template <class Flag>
    static std::uint32_t ballot(const Flag* flags) {
        const uint8x16_t bytes[4] = {bytes_of(flags), bytes_of(flags + sizeof(Bits)), vdupq_n_u8(0),
                                     vdupq_n_u8(0)};
        return static_cast<std::uint32_t>(bits_of_flags(bytes));
    }
    static void pack(uint8x16_t v, std::uint32_t mask, std::byte* out) {
        store_vector(out, vqtbl1q_u8(v, vld1q_u8(tables.pack[mask])));
    }
    static uint8x16_t unpack(const std::byte* in, std::uint32_t mask) {
        return vqtbl1q_u8(load_vector<uint8x16_t>(in), vld1q_u8(tables.unpack[mask]));
    }

  private:
    /// Returns the low bytes of 16 lanes: those of two registers, of four, or of eight.
    static uint8x16_t bytes_of(const Vector<std::int16_t, 8>* flags) {
        return vcombine_u8(vmovn_u16(bit_copy<uint16x8_t>(flags[0])),
                           vmovn_u16(bit_copy<uint16x8_t>(flags[1])));
    }
    static uint8x16_t bytes_of(const Vector<std::int32_t, 4>* flags) {
        Vector<std::int16_t, 8> words[2];
        for (int k = 0; k < 2; ++k)
            words[k] = bit_copy<Vector<std::int16_t, 8>>(
                vcombine_u16(vmovn_u32(bit_copy<uint32x4_t>(flags[2 * k])),
                             vmovn_u32(bit_copy<uint32x4_t>(flags[2 * k + 1]))));
        return bytes_of(words);
    }
    static uint8x16_t bytes_of(const Vector<std::int64_t, 2>* flags) {
        Vector<std::int32_t, 4> halves[4];
        for (int k = 0; k < 4; ++k)
            halves[k] = bit_copy<Vector<std::int32_t, 4>>(
                vcombine_u32(vmovn_u64(bit_copy<uint64x2_t>(flags[2 * k])),
                             vmovn_u64(bit_copy<uint64x2_t>(flags[2 * k + 1]))));
        return bytes_of(halves);
    }
};

template <class Bits>
struct Packer<Neon, Bits> : TablePacker<Bits, NeonInt<Bits>> {
    using typename TablePacker<Bits, NeonInt<Bits>>::Flag;

    static bool any(Flag flag) { return Neon::any(flag); }
};

}  // namespace
}  // namespace gradcoll::nm
