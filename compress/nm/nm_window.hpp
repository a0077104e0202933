// compress/nm/nm_window.hpp - a window of 32 elements in one to eight vector registers: the machine
// of nm_lanes.hpp, written once on GNU vector types.
//
// `Packer<Isa, Bits>` (nm_packer_avx2.hpp, nm_packer_avx512.hpp) is what differs by instruction
// set, for registers of `lanes` elements of type Bits; a mask has a bit a lane.
//   overrun_bytes             how far pack and unpack may reach behind the kept values
//   Flag, equal, greater      a bit a lane, of signed lanes
//   any(flag)                 whether a lane's bit is set
//   ballot(flags)             the window's flags as one word
//   select(mask, reg)         the lanes that the mask marks, 0 in place of the others
//   permuted(keys, order)     lane i becomes lane order[i]; for lanes of 32 bits
//   pack<S>(regs, word, out), unpack<S>(in, word, regs)   the kept values of a window
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compress/nm/nm_block.hpp"
#include "compress/nm/nm_layout.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::nm {
namespace {

/// Returns the bits of register k's lanes in a window's word.
template <int lanes>
constexpr std::uint32_t mask_of(std::uint32_t word, int k) {
    return word >> (lanes * k % 32) & static_cast<std::uint32_t>((1ull << lanes) - 1);
}

template <class Isa, class Bits>
struct Packer;

template <class Packer>
struct VectorWindow {
    using Bits = typename Packer::Bits;
    using Reg = typename Packer::Reg;
    using Key = typename Packer::Key;
    static constexpr int lanes = lanes_of<Reg>;
    static constexpr int registers = static_cast<int>(window_elems) / lanes;
    static constexpr std::size_t overrun_bytes = Packer::overrun_bytes;

    struct Values {
        Reg r[registers];
    };
    struct Keys {
        Key r[registers];
    };
    struct Flags {
        typename Packer::Flag r[registers];
    };

    static Values load(const std::byte* from) {
        return each<Values>([=](int k) { return load_vector<Reg>(from + sizeof(Reg) * k); });
    }
    static Keys magnitude(const Values& values) {
        constexpr Bits all_but_sign = static_cast<Bits>(~Bits{0}) >> 1;
        return each<Keys>(
            [&](int k) { return __builtin_bit_cast(Key, values.r[k] & all_but_sign); });
    }

    template <int x>
    static Keys exchange(const Keys& keys) {
        return each<Keys>(
            [&](int k) { return shuffled<Exchange<x % lanes>>(keys.r[k ^ (x / lanes)]); });
    }
    template <int M, int r>
    static Keys ahead(const Keys& keys) {
        return each<Keys>([&](int k) {
            if constexpr (M > 2 * lanes)
                return shuffled<Behind<r % lanes>>(keys.r[place_ahead<M, r>(k)],
                                                   keys.r[place_ahead<M, r + lanes>(k)]);
            else if constexpr (M > lanes)  // the first r lanes are the other's, then all turn
                return shuffled<Ahead<lanes, r>>(
                    shuffled<FirstOfOther<r>>(keys.r[k], keys.r[k ^ 1]));
            else if constexpr (M == 8 && sizeof(Bits) == 4)
                return Packer::permuted(keys.r[k], order<Ahead<M, r>>());
            else
                return shuffled<Ahead<M, r>>(keys.r[k]);
        });
    }
    template <int M, int below>
    static Keys less_one_below(const Keys& keys) {
        static constexpr MinusOneBelow<M, below> minus_one;
        return each<Keys>(
            [&](int k) { return keys.r[k] + load_vector<Key>(minus_one.lanes + lanes * k); });
    }
    static Keys max(const Keys& a, const Keys& b) {
        return each<Keys>([&](int k) { return a.r[k] > b.r[k] ? a.r[k] : b.r[k]; });
    }
    static Flags equal(const Keys& a, const Keys& b) {
        return each<Flags>([&](int k) { return Packer::equal(a.r[k], b.r[k]); });
    }
    static Flags greater(const Keys& a, const Keys& b) {
        return each<Flags>([&](int k) { return Packer::greater(a.r[k], b.r[k]); });
    }
    /// Returns the keys of no element; largest() takes lane by lane the largest of `top` and those
    /// of all registers.
    static Key none() { return Key{}; }
    static Key largest(Key top, const Keys& keys) {
        for (int k = 0; k < registers; ++k) top = keys.r[k] > top ? keys.r[k] : top;
        return top;
    }
    /// Returns whether any lane is above a number; above() says which keys are, one bit a lane of
    /// the window.
    static bool any_above(Key key, Bits number) {
        return Packer::any(Packer::greater(key, all(number)));
    }
    static std::uint32_t above(const Keys& keys, Bits number) {
        return ballot(each<Flags>([&](int k) { return Packer::greater(keys.r[k], all(number)); }));
    }
    static std::uint32_t ballot(const Flags& flags) { return Packer::ballot(flags.r); }

    /// Returns the values that the word marks, +0 in place of the others.
    static Values keep(const Values& values, std::uint32_t word) {
        return each<Values>(
            [&](int k) { return Packer::select(mask_of<lanes>(word, k), values.r[k]); });
    }
    /// Packs the kept values of a window; may write overrun_bytes more.
    template <class S>
    static void pack(const Values& values, std::uint32_t word, std::byte* out) {
        Packer::template pack<S>(values.r, word, out);
    }
    /// Returns the window of `in`'s values at the places that the word marks, +0 elsewhere; may
    /// read overrun_bytes more.
    template <class S>
    static Values unpack(const std::byte* in, std::uint32_t word) {
        Values values;
        Packer::template unpack<S>(in, word, values.r);
        return values;
    }

  private:
    static Key all(Bits number) { return static_cast<std::make_signed_t<Bits>>(number) - Key{}; }

    template <class Registers, class Make>
    static Registers each(Make make) {
        Registers all;
        for (int k = 0; k < registers; ++k) all.r[k] = make(k);
        return all;
    }

    /// Returns an order as the operand of an instruction: this is faster than what g++ 12 finds for
    /// eight lanes of 32 bits.
    template <class Order>
    static Reg order() {
        static constexpr OrderIndex<Order> index;
        return load_vector<Reg>(index.from);
    }
    template <class Order>
    struct OrderIndex {
        alignas(64) Bits from[lanes];
        constexpr OrderIndex() : from() {
            for (int i = 0; i < lanes; ++i) from[i] = static_cast<Bits>(Order::from(i, lanes));
        }
    };
    template <int distance>
    struct Exchange {
        static constexpr int from(int i, int) { return i ^ distance; }
    };
    template <int M, int r>
    struct Ahead {
        static constexpr int from(int i, int) { return i / M * M + (i % M + r) % M; }
    };
    /// Behind leaves out the first r lanes of two registers.
    template <int r>
    struct Behind {
        static constexpr int from(int i, int) { return i + r; }
    };
    /// Returns the register, of the group of M that register k is in, that begins r lanes ahead.
    template <int M, int r>
    static constexpr int place_ahead(int k) {
        constexpr int of_group = M / lanes;
        return k / of_group * of_group + (k + r / lanes) % of_group;
    }
    template <int r>
    struct FirstOfOther {
        static constexpr int from(int i, int all) { return i < r ? all + i : i; }
    };
    /// MinusOneBelow has -1 in the first `below` lanes of every group of M in a window, else 0: the
    /// tie rule.
    template <int M, int below>
    struct MinusOneBelow {
        alignas(64) Bits lanes[window_elems];
        constexpr MinusOneBelow() : lanes() {
            for (std::size_t i = 0; i < window_elems; ++i)
                lanes[i] = static_cast<Bits>(static_cast<int>(i % M) < below ? ~Bits{0} : Bits{0});
        }
    };
};

/// BlockOf is the block coder of an instruction set.
template <class Isa, class Shape, class Format>
using BlockOf =
    std::conditional_t<Isa::has_vectors,
                       VectorBlock<Shape, VectorWindow<Packer<Isa, typename Format::Bits>>,
                                   typename Isa::template Lanes<Format>>,
                       ScalarBlock<Shape, Format>>;

}  // namespace
}  // namespace gradcoll::nm
