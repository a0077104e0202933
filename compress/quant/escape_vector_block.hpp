// compress/quant/escape_vector_block.hpp - a whole block on vector registers: the functions of
// escape_scalar_block.hpp, for 512 elements.
//
// `Isa` (quant_avx2.hpp, quant_avx512.hpp) says beside what quant_vector_block.hpp asks, of Floats
// and Doubles:
//   at_most, at_least(a, b)             which lanes are; NaN is neither
//   same(a, b)                          which lanes have the same bits
//   both, either(mask, mask), not_of(mask)
//   bits(mask)                          a bit for each lane
//   chosen(mask, a, b)                  lanes of a where it is so, else of b
//   equal_codes<Code>(codes, value)     which of 64 codes of 8 or 16 bits are, as bits
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/bound/bound_vector_block.hpp"
#include "compress/quant/escape_rule.hpp"
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
    using PartBits = Vector<typename WideFormat<Elem>::Bits, Isa::vector_bytes / sizeof(Elem)>;
    static constexpr std::size_t part_elems = lanes_of<Part>;
    static constexpr std::uint64_t all_bits = (std::uint64_t{1} << part_elems) - 1;
    static constexpr std::size_t block = escape_block_elems;

    /// Codes of 4 bits are codes of 8 bits on the stack; others lie in the message itself.
    using Room = std::conditional_t<W::bits == 4, NibbleRoom<Isa, block>, NoRoom>;

  public:
    using Width = W;
    using Lanes = LanesOfFormat;
    using Whole = bound::VectorBlock<Lanes, Isa>;

    static std::size_t count_in(const Elem* wanted, const Window<Elem>& window, std::size_t) {
        const Part centre = all_lanes(window.centre), reach = all_lanes(window.reach);
        const Part least = all_lanes(window.least);
        std::size_t count = 0;
        for (std::size_t i = 0; i < block; i += part_elems) {
            const auto value = load_vector<Part>(wanted + i);
            const Part size = magnitudes(value);
            const auto is_in =
                Isa::both(Isa::at_most(magnitudes(value - centre), reach),
                          Isa::either(Isa::at_least(size, least), Isa::same(size, Part{})));
            count += static_cast<std::size_t>(__builtin_popcount(Isa::bits(is_in)));
        }
        return count;
    }

    static bool all_same(const Elem* wanted, std::size_t) {
        const auto first = bit_copy<PartBits>(all_lanes_of(wanted[0]));
        PartBits difference{};
        for (std::size_t i = 0; i < block; i += part_elems)
            difference |= load_vector<PartBits>(wanted + i) ^ first;
        return !Isa::any(difference);
    }

    template <bool with_residual, bool is_relative>
    static void quantize(const Elem* wanted, const Grid<Elem>& grid, const Loss<Elem>& loss,
                         std::byte* out, std::byte* residual, Escapes& escapes, std::size_t) {
        const Quantizer quantizer(grid);
        const Taker<is_relative> taker(loss);
        const Part mark = all_lanes(static_cast<Elem>(escape_mark<W>));
        Room room;
        std::byte* codes = room.codes_for(out);
        for (std::size_t i = 0; i < block; i += part_elems) {
            const auto value = load_vector<Part>(wanted + i);
            const Part code = quantizer.code_of(value);
            const Part sent = Whole::as_sent(quantizer.value_of(code));
            const Part rest = value - sent;
            const auto taken = taker.takes(value, sent, rest);
            Isa::template store_codes<Code>(codes + i * sizeof(Code),
                                            Isa::chosen(taken, code, mark));
            escapes.add(i, ~std::uint64_t{Isa::bits(taken)} & all_bits);
            if constexpr (with_residual) store_vector(residual + i * sizeof(Elem), rest);
        }
        room.pack(out);
    }

    static bool dequantize(const std::byte* in, const Grid<Elem>& grid, Bits* elements,
                           std::size_t) {
        const Quantizer quantizer(grid);
        Room room;
        const std::byte* codes = room.codes_of(in);
        const auto part = [&](std::size_t i) {
            return quantizer.value_of(
                Isa::template load_codes<Code>(codes + i * sizeof(Code), Part{}));
        };
        for (std::size_t i = 0; i < block; i += Lanes::elems) {
            if constexpr (sizeof(Bits) < sizeof(Elem))
                Lanes::store(elements + i, Lanes::narrow({part(i), part(i + part_elems)}));
            else
                Lanes::store(elements + i, Lanes::narrow(part(i)));
        }
        return true;
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
    /// The same for a value that may be -0.
    static Part all_lanes_of(Elem value) {
        Part part{};
        for (std::size_t lane = 0; lane < part_elems; ++lane) part[lane] = value;
        return part;
    }
    static Part magnitudes(Part value) {
        using LaneBits = typename WideFormat<Elem>::Bits;
        return bit_copy<Part>(bit_copy<PartBits>(value) & (~LaneBits{0} >> 1));
    }

    /// Grid::code_of and the value of a code, for a register.
    struct Quantizer {
        Part scale, offset, inverse;
        Part lowest = all_lanes(static_cast<Elem>(beside_mark<W>.lowest));
        Part highest = all_lanes(static_cast<Elem>(beside_mark<W>.highest));
        Part rounder = all_lanes(WideFormat<Elem>::rounder);

        explicit Quantizer(const Grid<Elem>& grid)
            : scale(all_lanes(grid.scale)),
              offset(all_lanes(grid.offset)),
              inverse(all_lanes(grid.inverse)) {}
        Part code_of(Part value) const {
            const Part steps = (value - offset) * inverse;
            return Isa::larger(Isa::smaller(steps, highest), lowest) + rounder - rounder;
        }
        Part value_of(Part code) const { return offset + code * scale; }
    };

    /// Loss::takes, for a register.
    template <bool is_relative>
    struct Taker {
        Part limit;
        Part least = all_lanes(static_cast<Elem>(smallest_normal<T>));
        Part most = all_lanes(static_cast<Elem>(bound::Numbers<Elem>::largest));
        Part least_limit = all_lanes(WideFormat<Elem>::smallest_normal);

        explicit Taker(const Loss<Elem>& loss)
            : limit(all_lanes(is_relative ? loss.rel_limit : loss.abs_limit)) {}
        auto takes(Part value, Part sent, Part rest) const {
            const Part size = magnitudes(value), off = magnitudes(rest);
            const auto has_all_digits = Isa::at_least(size, least);
            return Isa::either(Isa::both(is_near(size, off), has_all_digits),
                               Isa::both(Isa::same(value, sent), Isa::not_of(has_all_digits)));
        }

      private:
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
