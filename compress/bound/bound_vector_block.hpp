// compress/bound/bound_vector_block.hpp - a whole block on vector registers: the functions of
// bound_scalar_block.hpp, for 512 elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/bound/bound_grid.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::bound {
namespace {

template <class LanesOfFormat, class Isa>
class VectorBlock {
    using T = typename LanesOfFormat::Format;
    using Bits = typename T::Bits;
    using Elem = typename T::Wide;
    using N = Numbers<Elem>;

    using Part = Vector<Elem, Isa::vector_bytes / sizeof(Elem)>;
    static constexpr std::size_t part_elems = lanes_of<Part>;
    static constexpr bool is_pair = sizeof(Bits) < sizeof(Elem);  // a register is two parts
    using PartBits = Vector<typename N::Bits, part_elems>;
    using PartCodes = Vector<std::uint32_t, part_elems>;
    using Codes = Vector<std::uint32_t, Isa::vector_bytes / sizeof(std::uint32_t)>;
    using Signed = Vector<std::int32_t, Isa::vector_bytes / sizeof(std::int32_t)>;
    static constexpr std::size_t code_lanes = lanes_of<Codes>;

  public:
    using Lanes = LanesOfFormat;

    template <bool with_residual, bool of_sizes = false>
    static Survey<Elem> gather(const std::byte* in, const std::byte* residual, Elem* wanted,
                               std::size_t, Elem least = 0) {
        Extremes<of_sizes> extremes;
        for (std::size_t i = 0; i < block_elems; i += Lanes::elems) {
            auto wide = Lanes::widen(Lanes::load(in + i * sizeof(Bits)));
            if constexpr (with_residual)
                wide = Lanes::add(wide, Lanes::load_wide(residual + i * sizeof(Elem)));
            Lanes::store_wide(wanted + i, wide);
            if constexpr (is_pair) {
                extremes.add(wide.low);
                extremes.add(wide.high);
            } else {
                extremes.add(wide);
            }
        }
        return extremes.survey(least);
    }

    template <bool with_residual>
    static bool quantize(const Elem* wanted, const Grid<Elem>& grid, std::uint32_t lowest,
                         Elem limit, std::uint32_t* codes, std::byte* residual, std::size_t) {
        const Part step = all_lanes(grid.step), inverse = all_lanes(grid.inverse);
        const Part rounder = all_lanes(N::rounder);
        const auto none =
            static_cast<typename N::Bits>(bit_copy<typename N::Bits>(N::rounder) + lowest);
        Part furthest{};
        for (std::size_t i = 0; i < block_elems; i += part_elems) {
            const auto value = load_vector<Part>(wanted + i);
            const Part shifted = value * inverse + rounder;
            store_vector(codes + i,
                         __builtin_convertvector(bit_copy<PartBits>(shifted) - none, PartCodes));
            const Part rest = value - as_sent((shifted - rounder) * step);
            furthest = Isa::larger(furthest, magnitudes(rest));
            if constexpr (with_residual) store_vector(residual + i * sizeof(Elem), rest);
        }
        return Isa::largest(furthest) <= limit;
    }

    static void keep_rest_of(const Elem* wanted, Elem value, std::byte* residual, std::size_t) {
        for (std::size_t i = 0; i < block_elems; i += part_elems)
            store_vector(residual + i * sizeof(Elem), load_vector<Part>(wanted + i) - value);
    }

    static void send_plain(const Elem* wanted, std::byte* out, std::byte* residual, std::size_t) {
        for (std::size_t i = 0; i < block_elems; i += Lanes::elems) {
            const auto wide = Lanes::load_wide(wanted + i);
            const auto sent = Lanes::narrow(wide);
            Lanes::store(out + i * sizeof(Bits), sent);
            Lanes::store_wide(residual + i * sizeof(Elem),
                              Lanes::finite_or_zero(Lanes::subtract(wide, Lanes::widen(sent))));
        }
    }

    static Differences differences_of(const std::uint32_t* codes, std::size_t elems) {
        Signed least = difference(codes), most = least;
        for (std::size_t i = code_lanes; i < elems; i += code_lanes) {
            const Signed d = difference(codes + i);
            least = d < least ? d : least;
            most = d > most ? d : most;
        }
        Differences found{least[0], most[0]};
        for (std::size_t lane = 1; lane < code_lanes; ++lane) {
            found.least = least[lane] < found.least ? least[lane] : found.least;
            found.most = most[lane] > found.most ? most[lane] : found.most;
        }
        return found;
    }
    static void take_differences(std::uint32_t* codes, std::uint32_t least, std::size_t) {
        for (std::size_t i = block_elems; i != 0;) {
            i -= code_lanes;
            store_vector(codes + i, bit_copy<Codes>(difference(codes + i)) - least);
        }
    }
    static void add_differences(std::uint32_t* codes, std::uint32_t least, std::size_t) {
        Codes before{};
        for (std::size_t i = 0; i < block_elems; i += code_lanes) {
            const Codes sums = sums_of(load_vector<Codes>(codes + i) + least) + before;
            store_vector(codes + i, sums);
            before = shuffled<Last>(sums);
        }
    }

    static void pack(const std::uint32_t* codes, int width, std::byte* out, std::size_t) {
        for (std::size_t lane = 0; lane < row_elems; lane += code_lanes) {
            Codes word{};
            int used = 0;
            std::byte* to = out + lane * sizeof(std::uint32_t);
            for (std::size_t row = 0; row < block_elems / row_elems; ++row) {
                const auto code = load_vector<Codes>(codes + row * row_elems + lane);
                word |= code << used;
                used += width;
                if (used < 32) continue;
                store_vector(to, word);
                to += row_bytes;
                used -= 32;
                word = code >> 1 >> (width - used - 1);  // a shift by 32 is none
            }
        }
    }

    /// Unpacks a whole block, of which all bits are codes.
    static bool unpack(const std::byte* in, int width, std::uint32_t* codes, std::size_t) {
        const std::uint32_t mask = ~0u >> (32 - width);
        for (std::size_t lane = 0; lane < row_elems; lane += code_lanes) {
            Codes word{};
            int used = 32;
            const std::byte* from = in + lane * sizeof(std::uint32_t);
            for (std::size_t row = 0; row < block_elems / row_elems; ++row) {
                Codes code = word >> 1 >> (used - 1);
                used += width;
                if (used > 32) {
                    word = load_vector<Codes>(from);
                    from += row_bytes;
                    used -= 32;
                    code |= word << (width - used);
                }
                store_vector(codes + row * row_elems + lane, code & mask);
            }
        }
        return true;
    }

    template <class Step>
    static void dequantize(const std::uint32_t* codes, const Header<Elem>& header, Step step,
                           std::size_t) {
        const Part size = all_lanes(header.step);
        const auto part = [&](std::size_t i) {
            const PartCodes code = load_vector<PartCodes>(codes + i) + header.start;
            return __builtin_convertvector(bit_copy<Vector<std::int32_t, part_elems>>(code), Part) *
                   size;
        };
        for (std::size_t i = 0; i < block_elems; i += Lanes::elems) {
            if constexpr (is_pair)
                step(Lanes{}, i, Lanes::narrow({part(i), part(i + part_elems)}));
            else
                step(Lanes{}, i, Lanes::narrow(part(i)));
        }
    }

    /// Rounds to the element's type. No NaN comes in.
    static Part as_sent(Part value) {
        if constexpr (!is_pair)
            return value;
        else if constexpr (T::fraction_bits == 10)
            return Isa::fp16_to_fp32(Isa::fp32_to_fp16(value));
        else
            return bit_copy<Part>(Isa::rounded(bit_copy<PartBits>(value)) & 0xffff0000);
    }

  private:
    static Part all_lanes(Elem value) { return value - Part{}; }
    static Part magnitudes(Part value) {
        return bit_copy<Part>(bit_copy<PartBits>(value) & (~typename N::Bits{0} >> 1));
    }

    static Signed difference(const std::uint32_t* codes) {
        return bit_copy<Signed>(load_vector<Codes>(codes) - load_vector<Codes>(codes - 1));
    }
    /// Adds to each lane all lanes before it.
    static Codes sums_of(Codes codes) {
        codes += shuffled<From<1>>(Codes{}, codes);
        codes += shuffled<From<2>>(Codes{}, codes);
        if constexpr (code_lanes > 4) codes += shuffled<From<4>>(Codes{}, codes);
        if constexpr (code_lanes == 16) codes += shuffled<From<8>>(Codes{}, codes);
        return codes;
    }
    /// From takes the lane `before` places before, or 0.
    template <int before>
    struct From {
        static constexpr int from(int i, int lanes) { return lanes + i - before; }
    };
    struct Last {
        static constexpr int from(int, int lanes) { return lanes - 1; }
    };

    template <bool of_sizes>
    struct Extremes {
        Part lowest = all_lanes(static_cast<Elem>(__builtin_inff()));
        Part highest = -lowest;
        PartBits specials{};
        PartBits sizes = ~PartBits{};

        void add(Part part) {
            lowest = Isa::smaller(lowest, part);
            highest = Isa::larger(highest, part);
            specials |= bit_copy<PartBits>(part - part);  // 0, but for NaN and Inf
            if constexpr (of_sizes) {
                const PartBits size = size_of(bit_copy<PartBits>(part));
                sizes = size < sizes ? size : sizes;
            }
        }
        Survey<Elem> survey(Elem least) const {
            return {Isa::smallest(lowest), Isa::largest(highest), Isa::any(specials),
                    of_sizes && Isa::any(sizes < bit_copy<typename N::Bits>(least) * 2 - 1)};
        }

      private:
        /// Returns a number that orders magnitudes, with their signs behind them; +0 comes last.
        static PartBits size_of(PartBits bits) {
            constexpr int sign = 8 * sizeof(Elem) - 1;
            return (bits << 1 | bits >> sign) - 1;
        }
    };
};

}  // namespace
}  // namespace gradcoll::bound
