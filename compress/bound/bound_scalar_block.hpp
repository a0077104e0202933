// compress/bound/bound_scalar_block.hpp - a block in plain C++: the reference, and the last block.
// What its functions mean is said here once for the vector versions, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/bound/bound_grid.hpp"
#include "compress/lanes/elementwise.hpp"

namespace gradcoll::bound {
namespace {

template <class T>
class ScalarBlock {
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;

  public:
    using Lanes = ScalarLanes<T>;

    /// Sets wanted[i] = in[i], or in[i] + residual[i] with a residual, and surveys these values. If
    /// `of_sizes`, it also asks whether there are magnitudes below `least` other than +0.
    template <bool with_residual, bool of_sizes = false>
    static Survey<Wide> gather(const std::byte* in, const std::byte* residual, Wide* wanted,
                               std::size_t elems, Wide least = 0) {
        Survey<Wide> survey{0, 0, false};
        for (std::size_t i = 0; i < elems; ++i) {
            Wide value = Lanes::widen(Lanes::load(in + i * sizeof(Bits)));
            if (with_residual)
                value = Lanes::add(value, Lanes::load_wide(residual + i * sizeof(Wide)));
            wanted[i] = value;
            if (i == 0 || value < survey.lowest) survey.lowest = value;
            if (i == 0 || value > survey.highest) survey.highest = value;
            survey.has_specials |= value - value != Wide{0};
            if (of_sizes)
                survey.has_small |=
                    magnitude(value) < least && (value != 0 || is_minus_zero(value));
        }
        return survey;
    }

    static bool is_minus_zero(Wide value) {
        return value == 0 && bit_copy<typename Numbers<Wide>::Bits>(value) != 0;
    }

    /// Sets codes[i] to the code of wanted[i], less `lowest`. Returns false if a value would not
    /// come back within the limit. A residual becomes what is not sent.
    template <bool with_residual>
    static bool quantize(const Wide* wanted, const Grid<Wide>& grid, std::uint32_t lowest,
                         Wide limit, std::uint32_t* codes, std::byte* residual, std::size_t elems) {
        bool is_within = true;
        for (std::size_t i = 0; i < elems; ++i) {
            const std::uint32_t code = grid.code_of(wanted[i]);
            codes[i] = code - lowest;
            const Wide rest = wanted[i] - rounded_to<T>(grid.value_of(code));
            is_within &= magnitude(rest) <= limit;
            if (with_residual) Lanes::store_wide(residual + i * sizeof(Wide), rest);
        }
        return is_within;
    }

    /// Keeps the residual of a block of which every element comes back as `value`.
    static void keep_rest_of(const Wide* wanted, Wide value, std::byte* residual,
                             std::size_t elems) {
        for (std::size_t i = 0; i < elems; ++i)
            Lanes::store_wide(residual + i * sizeof(Wide), wanted[i] - value);
    }

    /// Sends the values as elements.
    static void send_plain(const Wide* wanted, std::byte* out, std::byte* residual,
                           std::size_t elems) {
        for (std::size_t i = 0; i < elems; ++i) {
            const auto sent = Lanes::narrow(wanted[i]);
            Lanes::store(out + i * sizeof(Bits), sent);
            Lanes::store_wide(residual + i * sizeof(Wide),
                              Lanes::finite_or_zero(wanted[i] - Lanes::widen(sent)));
        }
    }

    /// Returns the extremes of codes[i] - codes[i - 1]; there is a code before the first.
    static Differences differences_of(const std::uint32_t* codes, std::size_t elems) {
        Differences found{difference(codes, 0), difference(codes, 0)};
        for (std::size_t i = 1; i < elems; ++i) {
            const std::int32_t d = difference(codes, i);
            found.least = d < found.least ? d : found.least;
            found.most = d > found.most ? d : found.most;
        }
        return found;
    }
    /// codes[i] becomes codes[i] - codes[i - 1] - least.
    static void take_differences(std::uint32_t* codes, std::uint32_t least, std::size_t elems) {
        for (std::size_t i = elems; i-- > 0;) codes[i] -= codes[i - 1] + least;
    }
    /// Undoes take_differences(), from 0 on.
    static void add_differences(std::uint32_t* codes, std::uint32_t least, std::size_t elems) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < elems; ++i) codes[i] = sum += codes[i] + least;
    }

    /// Packs the codes; what is behind the elements in the last row is packed, too.
    static void pack(const std::uint32_t* codes, int width, std::byte* out, std::size_t elems) {
        for (std::size_t lane = 0; lane < row_elems; ++lane) {
            std::uint64_t word = 0;
            int used = 0;
            std::byte* to = out + lane * sizeof(std::uint32_t);
            for (std::size_t row = 0; row < rows_of(elems); ++row) {
                word |= std::uint64_t{codes[row * row_elems + lane]} << used;
                used += width;
                if (used < 32) continue;
                put_word(to, word);
                word >>= 32;
                used -= 32;
            }
            if (used != 0) put_word(to, word);
        }
    }

    /// Returns false if there is a bit where no element has one.
    static bool unpack(const std::byte* in, int width, std::uint32_t* codes, std::size_t elems) {
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        std::uint64_t left_over = 0;
        for (std::size_t lane = 0; lane < row_elems; ++lane) {
            std::uint64_t word = 0;
            int there = 0;
            const std::byte* from = in + lane * sizeof(std::uint32_t);
            for (std::size_t row = 0; row < rows_of(elems); ++row) {
                if (there < width) {
                    word |= std::uint64_t{Header<Wide>::get(from)} << there;
                    from += row_bytes;
                    there += 32;
                }
                codes[row * row_elems + lane] = static_cast<std::uint32_t>(word & mask);
                word >>= width;
                there -= width;
            }
            left_over |= word;
        }
        for (std::size_t i = elems; i % row_elems != 0; ++i) left_over |= codes[i];
        return left_over == 0;
    }

    /// Calls step(lanes, i, element) for every element.
    template <class Step>
    static void dequantize(const std::uint32_t* codes, const Header<Wide>& header, Step step,
                           std::size_t elems) {
        const Grid<Wide> grid{header.step, 0};
        for (std::size_t i = 0; i < elems; ++i)
            step(Lanes{}, i, Lanes::narrow(grid.value_of(codes[i] + header.start)));
    }

  private:
    static std::int32_t difference(const std::uint32_t* codes, std::size_t i) {
        return static_cast<std::int32_t>(codes[i] - codes[i - 1]);
    }
    static void put_word(std::byte*& to, std::uint64_t word) {
        Header<Wide>::put(to, static_cast<std::uint32_t>(word));
        to += row_bytes;
    }
};

}  // namespace
}  // namespace gradcoll::bound
