// compress/quant/escape_scalar_block.hpp - a block of quantized values and escapes in plain C++:
// the reference, and the last block. What its functions mean is said here once for the vector
// versions, too.
#pragma once

#include <cstddef>

#include "compress/bound/bound_scalar_block.hpp"
#include "compress/quant/escape_rule.hpp"
#include "compress/quant/quant_scalar_block.hpp"

namespace gradcoll::quant {
namespace {

template <class W, class T>
class EscapeScalarBlock {
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Codes = CodeArray<W>;

  public:
    using Width = W;
    using Lanes = ScalarLanes<T>;
    /// Takes the values of a block together, and sends them plain.
    using Whole = bound::ScalarBlock<T>;

    static std::size_t count_in(const Wide* wanted, const Window<Wide>& window, std::size_t elems) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < elems; ++i) count += window.has(wanted[i]) ? 1 : 0;
        return count;
    }

    static bool all_same(const Wide* wanted, std::size_t elems) {
        using WideBits = typename WideFormat<Wide>::Bits;
        WideBits difference = 0;
        for (std::size_t i = 1; i < elems; ++i)
            difference |= bit_copy<WideBits>(wanted[i]) ^ bit_copy<WideBits>(wanted[0]);
        return difference == 0;
    }

    /// Writes the codes of wanted[i], the mark for those that the loss does not allow, and says
    /// which these are. With a residual, that becomes what the code leaves over.
    template <bool with_residual, bool is_relative>
    static void quantize(const Wide* wanted, const Grid<Wide>& grid, const Loss<Wide>& loss,
                         std::byte* codes, std::byte* residual, Escapes& escapes,
                         std::size_t elems) {
        for (std::size_t i = 0; i < elems; ++i) {
            const int code = grid.code_of(wanted[i], beside_mark<W>);
            const Wide sent = bound::rounded_to<T>(value_of(grid, code));
            const bool is_taken = loss.template takes<T>(wanted[i], sent);
            Codes::write(codes, i, is_taken ? code : escape_mark<W>);
            if (!is_taken) escapes.set(i);
            if (with_residual) Lanes::store_wide(residual + i * sizeof(Wide), wanted[i] - sent);
        }
    }

    /// Writes the elements that codes stand for. False: no codes.
    static bool dequantize(const std::byte* codes, const Grid<Wide>& grid, Bits* elements,
                           std::size_t elems) {
        if (!Codes::ends_well(codes, elems)) return false;
        for (std::size_t i = 0; i < elems; ++i)
            elements[i] = Lanes::narrow(value_of(grid, Codes::read(codes, i)));
        return true;
    }

    static void find_marks(const std::byte* codes, Escapes& escapes, std::size_t elems) {
        for (std::size_t i = 0; i < elems; ++i)
            if (Codes::read(codes, i) == escape_mark<W>) escapes.set(i);
    }

  private:
    /// What does not fit the type becomes Inf: no encoder sends such a code.
    static Wide value_of(const Grid<Wide>& grid, int code) {
        return grid.offset + static_cast<Wide>(code) * grid.scale;
    }
};

}  // namespace
}  // namespace gradcoll::quant
