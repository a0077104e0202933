// compress/quant/quant_vector_block.hpp - a whole block on vector registers: 256 elements, or as
// many as the caller's blocks have, a multiple of 128.
//
// `Instructions<Isa>` (quant_avx2.hpp, quant_avx512.hpp) says what neither GNU vectors nor lanes
// do, of Floats and Doubles:
//   store_codes<Code>(to, vector[4])    to the nearest integers, of 8 or 16 bits
//   load_codes<Code>(from, vector)      integers of 8 or 16 bits; `vector` only says the type
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "compress/quant/quant_nibbles.hpp"
#include "compress/quant/quant_scalar_block.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::quant {
namespace {

template <class Isa>
struct Instructions;

template <class W, class LanesOfFormat, class Isa, std::size_t block = block_elems>
class VectorBlock {
    using T = typename LanesOfFormat::Format;
    using Bits = typename T::Bits;
    using Elem = typename T::Wide;
    using Code = typename W::Code;
    using Careful = ScalarBlock<W, T, block>;

  public:
    using Width = W;
    using Lanes = LanesOfFormat;

    template <class Rounding = ToNearest>
    static void encode(const std::byte* in, std::byte* out, Rounding rounding = {}) {
        const Extremes extremes = extremes_of(in);
        encode_over(extremes, grid_over(extremes, rounding), in, out, rounding);
    }

    /// This many blocks are encoded together, one behind the other. A grid takes longer to work out
    /// than codes do, and alone a core has nothing else to do meanwhile.
    static constexpr std::size_t at_once = 4;
    static void encode_some(const std::byte* in, std::byte* out) {
        constexpr std::size_t plain_bytes = block * sizeof(Bits);
        constexpr std::size_t coded_bytes = block_bytes(W::bits, sizeof(Bits), block);
        Extremes extremes[at_once];
        Grid<Elem> grids[at_once];
        for (std::size_t b = 0; b < at_once; ++b) extremes[b] = extremes_of(in + b * plain_bytes);
        for (std::size_t b = 0; b < at_once; ++b) grids[b] = grid_over(extremes[b], ToNearest{});
        for (std::size_t b = 0; b < at_once; ++b)
            encode_over(extremes[b], grids[b], in + b * plain_bytes, out + b * coded_bytes,
                        ToNearest{});
    }
    template <class Step>
    static bool decode(const std::byte* in, Step step) {
        const Grid<Elem> grid = read_grid<Elem>(in);
        if (!is_plain(grid)) [[unlikely]]
            return decode_with_care(in, step);
        Room room;
        const std::byte* codes = room.codes_of(in + header_bytes(sizeof(Bits)));
        const Part offset = all_lanes(grid.offset), scale = all_lanes(grid.scale);
        const auto part = [&](std::size_t i) {
            return offset +
                   Isa::template load_codes<Code>(codes + i * sizeof(Code), Part{}) * scale;
        };
        for (std::size_t i = 0; i < block; i += Lanes::elems) {
            if constexpr (is_pair)
                step(Lanes{}, i, Lanes::narrow_numbers({part(i), part(i + part_elems)}));
            else
                step(Lanes{}, i, Lanes::narrow_numbers(part(i)));
        }
        return true;
    }

  private:
    using Part = Vector<Elem, Isa::vector_bytes / sizeof(Elem)>;
    static constexpr std::size_t part_elems = lanes_of<Part>;
    static constexpr bool is_pair = sizeof(Bits) < sizeof(Elem);  // a register is two parts
    using LaneBits = typename WideFormat<Elem>::Bits;
    using PartBits = Vector<LaneBits, part_elems>;

    /// Codes of 4 bits are codes of 8 bits on the stack; others lie in the message itself.
    using Room = std::conditional_t<W::bits == 4, NibbleRoom<Isa, block>, NoRoom>;

    struct Extremes {
        Elem lowest, highest;
        bool has_specials;
    };

    static Part all_lanes(Elem value) { return value - Part{}; }
    static Part infinity() { return all_lanes(static_cast<Elem>(__builtin_inff())); }

    [[gnu::always_inline]] static PartBits lane_numbers() {
        return []<int... lane>(std::integer_sequence<int, lane...>) __attribute__((always_inline)) {
            return PartBits{lane...};
        }
        (std::make_integer_sequence<int, part_elems>{});
    }

    template <class Rounding>
    static Grid<Elem> grid_over(const Extremes& extremes, Rounding rounding) {
        return Grid<Elem>::over(extremes.lowest, extremes.highest, rounding.spread_over(W::all()));
    }

    template <class Rounding>
    static void encode_over(const Extremes& extremes, const Grid<Elem>& grid, const std::byte* in,
                            std::byte* out, Rounding rounding) {
        if (extremes.has_specials) [[unlikely]]
            return encode_with_care(in, out, rounding);
        write_grid(out, grid, false);
        Room room;
        std::byte* codes = room.codes_for(out + header_bytes(sizeof(Bits)));
        const Part lowest = all_lanes(static_cast<Elem>(W::lowest));
        const Part highest = all_lanes(static_cast<Elem>(W::highest));
        const Part offset = all_lanes(grid.offset), inverse = all_lanes(grid.inverse);
        for_parts(in, [&](std::size_t i, const Part(&parts)[4]) {
            Part rounded[4];
            for (std::size_t k = 0; k < 4; ++k) {
                const Part steps = (parts[k] - offset) * inverse;
                const Part within = Isa::larger(Isa::smaller(steps, highest), lowest);
                const auto place = static_cast<LaneBits>(i + k * part_elems);
                rounded[k] = rounding.template code_of<Elem>(
                    within, parts[k], rounding.draws_from(place, lane_numbers()));
            }
            Isa::template store_codes<Code>(codes + i * sizeof(Code), rounded);
        });
        room.pack(out + header_bytes(sizeof(Bits)));
    }

    template <class Rounding>
    [[gnu::cold, gnu::noinline]] static void encode_with_care(const std::byte* in, std::byte* out,
                                                              Rounding rounding) {
        Careful::encode(in, out, rounding);
    }
    template <class Step>
    [[gnu::cold, gnu::noinline]] static bool decode_with_care(const std::byte* in, Step step) {
        return Careful::decode(in, step);
    }

    /// Calls step(i, parts) for every four parts of the block.
    template <class Step>
    static void for_parts(const std::byte* in, Step step) {
        for (std::size_t i = 0; i < block; i += 4 * part_elems) {
            Part parts[4];
            for (std::size_t k = 0; k < 4; k += Lanes::elems / part_elems) {
                const auto wide =
                    Lanes::widen(Lanes::load(in + (i + k * part_elems) * sizeof(Bits)));
                if constexpr (is_pair) {
                    parts[k] = wide.low;
                    parts[k + 1] = wide.high;
                } else {
                    parts[k] = wide;
                }
            }
            step(i, parts);
        }
    }

    static Extremes extremes_of(const std::byte* in) {
        if constexpr (is_pair)
            return extremes_of_words(in);
        else
            return extremes_of_parts(in);
    }

    /// Returns the extremes of 16-bit floats, which are ordered like integers once the negative
    /// ones are turned round; NaN and Inf are then at the ends. A register has twice as many of
    /// these as of fp32.
    static Extremes extremes_of_words(const std::byte* in) {
        using Whole = typename Isa::Whole;
        constexpr std::size_t words = lanes_of<Whole>;
        constexpr auto largest = static_cast<std::int16_t>(largest_finite_bits<T>());
        const auto turned = [in](std::size_t i) {
            const auto bits = load_vector<Whole>(in + i * sizeof(Bits));
            return bits ^ ((bits >> 15) & 0x7fff);
        };
        Whole lowest = turned(0), highest = lowest;
        for (std::size_t i = 0; i < block; i += 2 * words) {  // in pairs: shorter chains
            const Whole a = turned(i), b = turned(i + words);
            const Whole low = a < b ? a : b, high = a > b ? a : b;
            lowest = low < lowest ? low : lowest;
            highest = high > highest ? high : highest;
        }
        const std::int16_t low = Isa::smallest(lowest), high = Isa::largest(highest);
        return {turned_back(low), turned_back(high), low < ~largest || high > largest};
    }
    static Elem turned_back(std::int16_t word) {
        return ScalarLanes<T>::widen(static_cast<Bits>(word ^ ((word >> 15) & 0x7fff)));
    }

    static Extremes extremes_of_parts(const std::byte* in) {
        Part lowest = infinity(), highest = -infinity();
        PartBits specials{};
        for_parts(in, [&](std::size_t, const Part(&parts)[4]) {  // in pairs: shorter chains
            lowest = Isa::smaller(lowest, Isa::smaller(Isa::smaller(parts[0], parts[1]),
                                                       Isa::smaller(parts[2], parts[3])));
            highest = Isa::larger(highest, Isa::larger(Isa::larger(parts[0], parts[1]),
                                                       Isa::larger(parts[2], parts[3])));
            for (const Part& part : parts)
                specials |= bit_copy<PartBits>(part - part);  // 0, but for NaN and Inf
        });
        return {Isa::smallest(lowest), Isa::largest(highest), Isa::any(specials)};
    }

    /// Returns whether the codes are all values, and all of these are finite in the element type:
    /// rounding keeps the order, so no value is beyond `reach`.
    static bool is_plain(const Grid<Elem>& grid) {
        const Elem reach = magnitude(grid.offset) + static_cast<Elem>(-W::lowest) * grid.scale;
        return !is_negative(grid.scale) && reach <= ScalarLanes<T>::widen(largest_finite_bits<T>());
    }
};

/// BlockOf is the block coder of an instruction set.
template <class Isa, class W, class Format, std::size_t block = block_elems>
using BlockOf = std::conditional_t<
    Isa::has_vectors,
    VectorBlock<W, typename Isa::template Lanes<Format>, Instructions<Isa>, block>,
    ScalarBlock<W, Format, block>>;

}  // namespace
}  // namespace gradcoll::quant
