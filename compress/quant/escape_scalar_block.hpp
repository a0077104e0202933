// compress/quant/escape_scalar_block.hpp - a block of quantized values and escapes in plain C++:
// the reference, and the last block. What its functions mean is said here once for the vector
// versions, too.
#pragma once

#include <cstddef>
#include <cstring>

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

    /// Counts the values in the window, which without `is_relative` has no `least`.
    template <bool is_relative>
    static std::size_t count_in(const Wide* wanted, const Window<Wide>& window, std::size_t elems) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < elems; ++i) count += window.has(wanted[i]) ? 1 : 0;
        return count;
    }
    static void count_around_zero(const Wide* wanted, const Window<Wide>* windows,
                                  std::size_t* counts, std::size_t elems) {
        for (std::size_t k = 0; k < windows_around_zero; ++k)
            counts[k] = count_in<true>(wanted, windows[k], elems);
    }

    static bool all_same(const Wide* wanted, std::size_t elems) {
        using WideBits = typename WideFormat<Wide>::Bits;
        WideBits difference = 0;
        for (std::size_t i = 1; i < elems; ++i)
            difference |= bit_copy<WideBits>(wanted[i]) ^ bit_copy<WideBits>(wanted[0]);
        return difference == 0;
    }

    /// Writes the codes of wanted[i], or the mark for those that the loss does not allow, which it
    /// adds to `escapes`. A residual becomes what the code leaves over. Here all is asked of each,
    /// wherever else less is: so tests find out if that was wrong.
    template <bool with_residual, bool is_relative, Look>
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

    /// Copies the marked ones of the elements `in`, one behind the other.
    static void copy_escapes(const std::byte* in, const Escapes& escapes, std::byte* to) {
        escapes.for_each([&](std::size_t i) {
            std::memcpy(to, in + i * sizeof(Bits), sizeof(Bits));
            to += sizeof(Bits);
        });
    }

    /// Returns whether the bits that no code needs are 0.
    static bool ends_well(const std::byte* codes, std::size_t elems) {
        return Codes::ends_well(codes, elems);
    }
    /// Calls step(lanes, i, values) for the elements that codes stand for.
    template <class Step>
    static void dequantize(const std::byte* codes, const Grid<Wide>& grid, std::size_t elems,
                           Step step) {
        for (std::size_t i = 0; i < elems; ++i)
            step(Lanes{}, i, Lanes::narrow(value_of(grid, Codes::read(codes, i))));
    }

    static void find_marks(const std::byte* codes, Escapes& escapes, std::size_t elems) {
        for (std::size_t i = 0; i < elems; ++i)
            if (Codes::read(codes, i) == escape_mark<W>) escapes.set(i);
    }

  private:
    /// Returns the value of a code. What does not fit the type becomes Inf: no encoder sends such a
    /// code.
    static Wide value_of(const Grid<Wide>& grid, int code) {
        return grid.offset + static_cast<Wide>(code) * grid.scale;
    }
};

}  // namespace
}  // namespace gradcoll::quant
