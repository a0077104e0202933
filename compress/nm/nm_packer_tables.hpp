// compress/nm/nm_packer_tables.hpp - packing by tables of permutations (nm_window.hpp), for sets of
// instructions that have none for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compress/lanes/scalar.hpp"
#include "compress/nm/nm_layout.hpp"
#include "compress/nm/nm_window.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::nm {
namespace {

/// PermuteTables say for each mask of a register's lanes where packed value k comes from (pack),
/// and where lane i comes from (unpack; top bit set: nowhere). A row has unit_bytes entries a lane,
/// which number the units of a value's own bytes.
template <int lanes, int unit_bytes>
struct PermuteTables {
    static constexpr int masks = 1 << lanes;
    static constexpr int row_bytes = lanes * unit_bytes;
    alignas(64) std::uint8_t pack[masks][row_bytes];
    alignas(64) std::uint8_t unpack[masks][row_bytes];

    constexpr PermuteTables() : pack(), unpack() {
        for (int mask = 0; mask < masks; ++mask) {
            int kept = 0;
            for (int lane = 0; lane < lanes; ++lane) {
                const bool is_kept = (mask >> lane & 1) != 0;
                for (int unit = 0; unit < unit_bytes; ++unit) {
                    const int from = is_kept ? kept * unit_bytes + unit : 0x80;
                    unpack[mask][lane * unit_bytes + unit] = static_cast<std::uint8_t>(from);
                    if (is_kept)
                        pack[mask][from] = static_cast<std::uint8_t>(lane * unit_bytes + unit);
                }
                kept += is_kept ? 1 : 0;
            }
        }
    }
};
/// TablePacker is what is the same of such packers. `Int` has the operations that differ: the signs
/// of the window's flags as a word (ballot); the kept values of one register (pack, unpack), which
/// store and load a whole register whatever their number.
template <class BitsOfLane, class Int>
struct TablePacker {
    using Register = typename Int::Register;
    using Bits = BitsOfLane;
    static constexpr int lanes = static_cast<int>(sizeof(Register) / sizeof(Bits));
    static constexpr int registers = static_cast<int>(window_elems) / lanes;
    static constexpr std::size_t overrun_bytes = sizeof(Register);
    using Reg = Vector<Bits, lanes>;
    using Key = Vector<std::make_signed_t<Bits>, lanes>;
    using Flag = Key;  // all bits of a lane are equal

    static Flag equal(Key a, Key b) { return a == b; }
    static Flag greater(Key a, Key b) { return a > b; }
    static std::uint32_t ballot(const Flag* flags) { return Int::ballot(flags); }

    static Reg select(std::uint32_t mask, Reg values) {
        static constexpr BitOfLane bit;
        const auto bits = load_vector<Reg>(bit.lanes);
        const Reg mask_everywhere = static_cast<Bits>(mask) - Reg{};
        return (mask_everywhere & bits) == bits ? values : Reg{};
    }
    template <class S>
    static void pack(const Reg* values, std::uint32_t word, std::byte* out) {
        for (int k = 0; k < registers; ++k) {
            const std::uint32_t mask = mask_of<lanes>(word, k);
            Int::pack(bit_copy<Register>(values[k]), mask, out);
            out += kept_bytes<S>(mask);
        }
    }
    template <class S>
    static void unpack(const std::byte* in, std::uint32_t word, Reg* values) {
        for (int k = 0; k < registers; ++k) {
            const std::uint32_t mask = mask_of<lanes>(word, k);
            values[k] = bit_copy<Reg>(Int::unpack(in, mask));
            in += kept_bytes<S>(mask);
        }
    }

  private:
    struct BitOfLane {
        alignas(64) Bits lanes[TablePacker::lanes];
        constexpr BitOfLane() : lanes() {
            for (int i = 0; i < TablePacker::lanes; ++i) lanes[i] = static_cast<Bits>(Bits{1} << i);
        }
    };
    template <class S>
    static std::size_t kept_bytes(std::uint32_t mask) {
        if constexpr (S::M <= lanes) return sizeof(Bits) * lanes * S::N / S::M;
        return sizeof(Bits) * static_cast<std::size_t>(__builtin_popcount(mask));
    }
};

}  // namespace
}  // namespace gradcoll::nm
