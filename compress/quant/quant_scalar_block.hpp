// compress/quant/quant_scalar_block.hpp - a block in plain C++: the reference, and what vector code
// leaves over: blocks with NaN or Inf, values at the end of the type's range, the last block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/lanes/scalar.hpp"
#include "compress/quant/quant_grid.hpp"
#include "compress/quant/quant_rounding.hpp"

namespace gradcoll::quant {
namespace {

template <class Wide>
inline void write_grid(std::byte* out, const Grid<Wide>& grid, bool has_specials) {
    const Wide scale = has_specials ? -grid.scale : grid.scale;
    std::memcpy(out, &scale, sizeof scale);
    std::memcpy(out + sizeof scale, &grid.offset, sizeof grid.offset);
}

template <class Wide>
inline Grid<Wide> read_grid(const std::byte* in) {
    Grid<Wide> grid{};
    std::memcpy(&grid.scale, in, sizeof grid.scale);
    std::memcpy(&grid.offset, in + sizeof grid.scale, sizeof grid.offset);
    return grid;
}

/// CodeArray has codes in memory: low bits first, little endian.
template <class W>
struct CodeArray {
    static void write(std::byte* codes, std::size_t i, int code) {
        if constexpr (W::bits == 4) {
            const auto nibble = static_cast<std::byte>(code & 0xf);
            codes[i / 2] = i % 2 == 0 ? nibble : codes[i / 2] | nibble << 4;
        } else {
            std::memcpy(codes + i * sizeof(Code), &code, sizeof(Code));
        }
    }
    static int read(const std::byte* codes, std::size_t i) {
        if constexpr (W::bits == 4) {
            const int nibble = static_cast<int>(codes[i / 2]) >> (i % 2 * 4) & 0xf;
            return (nibble ^ 8) - 8;
        } else {
            Code code;
            std::memcpy(&code, codes + i * sizeof(Code), sizeof code);
            return code;
        }
    }
    /// Returns whether the half byte behind an odd number of codes is 0.
    static bool ends_well(const std::byte* codes, std::size_t elems) {
        return W::bits != 4 || elems % 2 == 0 || (codes[elems / 2] >> 4) == std::byte{0};
    }

  private:
    using Code = typename W::Code;
};

/// ScalarBlock codes blocks of `block` elements.
template <class W, class T, std::size_t block = block_elems>
class ScalarBlock {
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Codes = CodeArray<W>;

  public:
    using Width = W;
    using Lanes = ScalarLanes<T>;

    static void encode(const std::byte* in, std::byte* out, std::size_t elems = block) {
        encode(in, out, ToNearest{}, elems);
    }
    template <class Rounding>
    static void encode(const std::byte* in, std::byte* out, Rounding rounding,
                       std::size_t elems = block) {
        Wide lowest = 0, highest = 0;
        std::size_t finite = 0;
        for (std::size_t i = 0; i < elems; ++i) {
            const Wide value = value_at(in, i);
            if (!is_finite(value)) continue;
            if (finite == 0 || value < lowest) lowest = value;
            if (finite == 0 || value > highest) highest = value;
            ++finite;
        }
        const bool has_specials = finite < elems;
        const CodeRange range = has_specials ? W::beside_specials() : W::all();
        const Grid<Wide> grid = Grid<Wide>::over(lowest, highest, rounding.spread_over(range));
        write_grid(out, grid, has_specials);
        std::byte* codes = out + header_bytes(sizeof(Bits));
        for (std::size_t i = 0; i < elems; ++i) {
            const Wide value = value_at(in, i);
            const int code =
                is_finite(value) ? code_of(rounding, grid, value, range, i) : special_of<W>(value);
            Codes::write(codes, i, code);
        }
    }

    /// Calls step(lanes, i, element). Returns false if the bytes are no encoding.
    template <class Step>
    static bool decode(const std::byte* in, Step step, std::size_t elems = block) {
        Grid<Wide> grid = read_grid<Wide>(in);
        const std::byte* codes = in + header_bytes(sizeof(Bits));
        const bool has_specials = is_negative(grid.scale);
        if (!is_finite(grid.scale) || !is_finite(grid.offset) || !Codes::ends_well(codes, elems))
            return false;
        grid.scale = magnitude(grid.scale);
        const Wide largest = Lanes::widen(largest_finite_bits<T>());
        for (std::size_t i = 0; i < elems; ++i) {
            const int code = Codes::read(codes, i);
            const Bits bits = has_specials && is_special<W>(code)
                                  ? special<W, T>(code)
                                  : Lanes::narrow(grid.value_of(code, largest));
            step(Lanes{}, i, bits);
        }
        return true;
    }

  private:
    template <class Rounding>
    static int code_of(const Rounding& rounding, const Grid<Wide>& grid, Wide value,
                       CodeRange range, std::size_t place) {
        using WideBits = typename WideFormat<Wide>::Bits;
        const Wide steps = grid.steps_to(value, range);
        const auto draws = rounding.draws_from(static_cast<WideBits>(place), WideBits{0});
        const Wide code = rounding.template code_of<Wide>(steps, value, draws);
        return static_cast<int>(to_nearest(code));
    }
    static Wide value_at(const std::byte* in, std::size_t i) {
        return Lanes::widen(Lanes::load(in + i * sizeof(Bits)));
    }
};

}  // namespace
}  // namespace gradcoll::quant
