// compress/quant/escape_vector_block.hpp - a whole block on vector registers: the functions of
// escape_scalar_block.hpp, for 512 elements.
//
// `Instructions<Isa>` (quant_avx2.hpp, quant_avx512.hpp) says beside what quant_vector_block.hpp
// asks, of Floats and Doubles:
//   at_most, at_least(a, b)             which lanes are; NaN is neither
//   at_most(a, b)                       of whole numbers without a sign, too
//   same(a, b)                          which lanes have the same bits
//   both, either(mask, mask), not_of(mask)
//   bits(mask)                          a bit for each lane
//   chosen(mask, a, b)                  lanes of a where it is so, else of b
//   equal_codes<Code>(codes, value)     which of 64 codes of 8 or 16 bits are, as bits
// and where it has an instruction for it:
//   packed(elements, marks)             those of a register that are marked, one behind the other
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/bound/bound_vector_block.hpp"
#include "compress/quant/escape_scalar_block.hpp"
#include "compress/quant/quant_nibbles.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::quant {
namespace {

template <class W, class LanesOfFormat, class Isa>
class EscapeVectorBlock {
    using T = typename LanesOfFormat::Format;
    using Bits = typename T::Bits;
    using Elem = typename T::Wide;
    using Code = typename W::Code;
    using Part = Vector<Elem, Isa::vector_bytes / sizeof(Elem)>;
    using LaneBits = typename WideFormat<Elem>::Bits;
    using PartBits = Vector<LaneBits, Isa::vector_bytes / sizeof(Elem)>;
    static constexpr std::size_t part_elems = lanes_of<Part>;
    static constexpr std::uint64_t all_bits = (std::uint64_t{1} << part_elems) - 1;
    static constexpr std::size_t block = escape_block_elems;

    /// Codes of 4 bits are codes of 8 bits on the stack; others lie in the message itself.
    using Room = std::conditional_t<W::bits == 4, NibbleRoom<Isa, block>, NoRoom>;

  public:
    using Width = W;
    using Lanes = LanesOfFormat;
    using Whole = bound::VectorBlock<Lanes, Isa>;

    template <bool is_relative>
    static std::size_t count_in(const Elem* wanted, const Window<Elem>& window, std::size_t) {
        const Part centre = all_lanes(window.centre), reach = all_lanes(window.reach);
        const PartBits before_least = all_lanes_of(least_bits(window) - 1);
        std::size_t count = 0;
        for (std::size_t i = 0; i < block; i += part_elems) {
            const auto value = load_vector<Part>(wanted + i);
            auto is_in = Isa::at_most(magnitudes(value - centre), reach);
            if constexpr (is_relative) {  // less one, 0 is the largest of all
                const auto size = bit_copy<PartBits>(magnitudes(value));
                is_in = Isa::both(is_in, Isa::at_most(before_least, size - 1));
            }
            count += lanes_in(is_in);
        }
        return count;
    }

    /// Counts in several windows. The order of magnitudes is that of their bits, so a window is one
    /// comparison.
    static void count_around_zero(const Elem* wanted, const Window<Elem>* windows,
                                  std::size_t* counts, std::size_t) {
        PartBits least[windows_around_zero], span[windows_around_zero];
        for (std::size_t k = 0; k < windows_around_zero; ++k) {
            const LaneBits first = least_bits(windows[k]), last = bits_of(windows[k].reach);
            const bool is_empty = last < first;  // then of what no magnitude is
            least[k] = all_lanes_of(is_empty ? ~LaneBits{0} : first);
            span[k] = all_lanes_of(is_empty ? LaneBits{0} : last - first);
            counts[k] = 0;
        }
        std::size_t zeros = 0;
        for (std::size_t i = 0; i < block; i += part_elems) {
            const Part size = magnitudes(load_vector<Part>(wanted + i));
            zeros += lanes_in(Isa::same(size, Part{}));
            for (std::size_t k = 0; k < windows_around_zero; ++k)
                counts[k] += lanes_in(Isa::at_most(bit_copy<PartBits>(size) - least[k], span[k]));
        }
        for (std::size_t k = 0; k < windows_around_zero; ++k) counts[k] += zeros;
    }

    static bool all_same(const Elem* wanted, std::size_t) {
        const PartBits first = all_lanes_of(bits_of(wanted[0]));
        PartBits difference{};
        for (std::size_t i = 0; i < block; i += part_elems)
            difference |= load_vector<PartBits>(wanted + i) ^ first;
        return !Isa::any(difference);
    }

    template <bool with_residual, bool is_relative, Look look>
    static void quantize(const Elem* wanted, const Grid<Elem>& grid, const Loss<Elem>& loss,
                         std::byte* out, std::byte* residual, Escapes& escapes, std::size_t) {
        const Quantizer quantizer(grid);
        const Taker<is_relative, look> taker(loss);
        const Part mark = all_lanes(static_cast<Elem>(escape_mark<W>));
        Room room;
        std::byte* codes = room.codes_for(out);
        for (std::size_t i = 0; i < block; i += 4 * part_elems) {
            Part told[4];
            std::uint64_t left = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                const std::size_t at = i + k * part_elems;
                const auto value = load_vector<Part>(wanted + at);
                told[k] = quantizer.steps_to(value);
                if constexpr (look == Look::at_nothing && !with_residual) continue;
                told[k] = quantizer.code_of(told[k]);
                const Part sent = Whole::as_sent(quantizer.value_of(told[k]));
                const Part rest = value - sent;
                if constexpr (with_residual) store_vector(residual + at * sizeof(Elem), rest);
                if constexpr (look == Look::at_nothing) continue;
                const auto taken = taker.takes(value, sent, rest);
                told[k] = Isa::chosen(taken, told[k], mark);
                left |= (~std::uint64_t{Isa::bits(taken)} & all_bits) << k * part_elems;
            }
            Isa::template store_codes<Code>(codes + i * sizeof(Code), told);
            if constexpr (look != Look::at_nothing) escapes.add(i, left);
        }
        room.pack(out);
    }

    /// Copies the marked elements. Registers are packed without a branch, each over what the one
    /// before has written too much.
    static void copy_escapes(const std::byte* in, const Escapes& escapes, std::byte* to) {
        if constexpr (requires(typename Lanes::Reg reg) { Isa::packed(reg, std::uint64_t{}); }) {
            constexpr std::size_t elems = Lanes::elems;
            constexpr std::uint64_t all = (std::uint64_t{1} << elems) - 1;
            alignas(64) Bits packed[block + elems];
            std::size_t count = 0;
            for (std::size_t i = 0; i < block; i += elems) {
                const std::uint64_t marks =
                    escapes.words[i / Escapes::word_bits] >> i % Escapes::word_bits & all;
                Lanes::store(packed + count,
                             Isa::packed(Lanes::load(in + i * sizeof(Bits)), marks));
                count += static_cast<std::size_t>(__builtin_popcountll(marks));
            }
            std::memcpy(to, packed, count * sizeof(Bits));
        } else {
            EscapeScalarBlock<W, T>::copy_escapes(in, escapes, to);
        }
    }

    /// Returns true: all bits of a whole block are codes.
    static bool ends_well(const std::byte*, std::size_t) { return true; }

    template <class Step>
    static void dequantize(const std::byte* in, const Grid<Elem>& grid, std::size_t, Step step) {
        const Quantizer quantizer(grid);
        Room room;
        const std::byte* codes = room.codes_of(in);
        const auto part = [&](std::size_t i) {
            return quantizer.value_of(
                Isa::template load_codes<Code>(codes + i * sizeof(Code), Part{}));
        };
        for (std::size_t i = 0; i < block; i += Lanes::elems) {
            if constexpr (sizeof(Bits) < sizeof(Elem))
                step(Lanes{}, i, Lanes::narrow_numbers({part(i), part(i + part_elems)}));
            else
                step(Lanes{}, i, Lanes::narrow_numbers(part(i)));
        }
    }

    static void find_marks(const std::byte* in, Escapes& escapes, std::size_t) {
        Room room;
        const std::byte* codes = room.codes_of(in);
        for (std::size_t i = 0; i < block; i += Escapes::word_bits)
            escapes.add(i, Isa::template equal_codes<Code>(codes + i * sizeof(Code),
                                                           static_cast<Code>(escape_mark<W>)));
    }

  private:
    static Part all_lanes(Elem value) { return value - Part{}; }
    static PartBits all_lanes_of(LaneBits bits) { return bits - PartBits{}; }
    static LaneBits bits_of(Elem value) { return bit_copy<LaneBits>(value); }
    /// Returns the least magnitude other than 0 that a window has.
    static LaneBits least_bits(const Window<Elem>& window) {
        const LaneBits least = bits_of(window.least);
        return least == 0 ? 1 : least;
    }
    template <class Mask>
    static std::size_t lanes_in(Mask mask) {
        return static_cast<std::size_t>(__builtin_popcount(Isa::bits(mask)));
    }
    static Part magnitudes(Part value) {
        return bit_copy<Part>(bit_copy<PartBits>(value) & (~LaneBits{0} >> 1));
    }

    /// Quantizer computes Grid::code_of and the value of a code, for a register.
    struct Quantizer {
        Part scale, offset, inverse;
        Part lowest = all_lanes(static_cast<Elem>(beside_mark<W>.lowest));
        Part highest = all_lanes(static_cast<Elem>(beside_mark<W>.highest));
        Part rounder = all_lanes(WideFormat<Elem>::rounder);

        explicit Quantizer(const Grid<Elem>& grid)
            : scale(all_lanes(grid.scale)),
              offset(all_lanes(grid.offset)),
              inverse(all_lanes(grid.inverse)) {}
        Part steps_to(Part value) const {
            const Part steps = (value - offset) * inverse;
            return Isa::larger(Isa::smaller(steps, highest), lowest);
        }
        Part code_of(Part steps) const { return steps + rounder - rounder; }
        Part value_of(Part code) const { return offset + code * scale; }
    };

    /// Taker computes Loss::takes for a register.
    template <bool is_relative, Look look>
    struct Taker {
        Part limit;
        Part least = all_lanes(static_cast<Elem>(smallest_normal<T>));
        Part most = all_lanes(static_cast<Elem>(bound::Numbers<Elem>::largest));
        Part least_limit = all_lanes(WideFormat<Elem>::smallest_normal);

        explicit Taker(const Loss<Elem>& loss)
            : limit(all_lanes(is_relative ? loss.rel_limit : loss.abs_limit)) {}
        auto takes(Part value, Part sent, Part rest) const {
            const Part size = magnitudes(value), off = magnitudes(rest);
            if constexpr (look == Look::at_loss) {
                return is_usually_near(size, off);
            } else {
                const auto has_all_digits = Isa::at_least(size, least);
                return Isa::either(Isa::both(is_near(size, off), has_all_digits),
                                   Isa::both(Isa::same(value, sent), Isa::not_of(has_all_digits)));
            }
        }

      private:
        auto is_usually_near(Part size, Part off) const {
            if constexpr (is_relative)
                return Isa::at_most(off, size * limit);
            else
                return Isa::at_most(off, limit);
        }
        auto is_near(Part size, Part off) const {
            if constexpr (is_relative) {
                const Part product = size * limit;
                const Part allowed =
                    Isa::chosen(Isa::at_least(product, least_limit), product, Part{});
                return Isa::both(Isa::at_most(off, allowed), Isa::at_most(size, most));
            } else {
                return Isa::at_most(off, limit);
            }
        }
    };
};

}  // namespace
}  // namespace gradcoll::quant
