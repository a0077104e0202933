// compress/quant/escape_block.hpp - a block of quantized values and escapes, from elements to bytes
// and back. `Block` does the work on all elements (escape_scalar_block.hpp).
#pragma once

#include <cstddef>
#include <cstring>

#include "compress/bound/bound_block.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/quant/escape_values.hpp"
#include "compress/quant/quant_scalar_block.hpp"

namespace gradcoll::quant {
namespace {

/// EscapeInput is the elements of a block, and its values as they are to come back.
template <class Wide>
struct EscapeInput {
    EscapeInput(const std::byte* elements, std::byte* rest, std::size_t count)
        : in(elements), residual(rest), elems(count) {}

    const std::byte* in;
    std::byte* residual;
    std::size_t elems;
    bound::Survey<Wide> survey{};
    alignas(64) Wide wanted[escape_block_elems];
};

/// EscapeEncoder writes a block with codes of one width. Several may share an input, which one of
/// them has gathered.
template <class Block, bool with_residual>
class EscapeEncoder {
    using W = typename Block::Width;
    using Whole = typename Block::Whole;
    using T = typename Block::Lanes::Format;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Values = BlockValues<Wide, Block>;
    using Scalar = ScalarLanes<T>;

  public:
    using Sizes = EscapeSizes<W, Bits, Wide>;

    EscapeEncoder(EscapeInput<Wide>& input, const Loss<Wide>& loss)
        : input_(input), loss_(loss), values_{input.wanted, input.elems}, choice_(values_, loss) {}

    /// Returns how many bytes were written.
    std::size_t encode(std::byte* out) {
        gather();
        if (is_constant()) return send_constant(out);
        const std::size_t size =
            may_have_codes() && choose() < plain_bytes() ? send_codes(out) : std::size_t{0};
        return size != 0 ? size : send_plain(out);
    }

    // ---- the steps of that

    void gather() {
        input_.survey = Whole::template gather<with_residual, true>(input_.in, input_.residual,
                                                                    input_.wanted, input_.elems,
                                                                    loss_.template least_size<T>());
    }
    bool is_constant() const {
        if (input_.survey.has_specials || input_.survey.lowest != input_.survey.highest)
            return false;
        if (Sizes::constant >= plain_bytes() || !Block::all_same(input_.wanted, input_.elems))
            return false;
        const Wide sent = bound::rounded_to<T>(input_.wanted[0]);
        return sent == input_.wanted[0] || loss_.template takes<T>(input_.wanted[0], sent);
    }
    std::size_t send_constant(std::byte* out) {
        const Wide sent = bound::rounded_to<T>(input_.wanted[0]);
        write_grid(out, Grid<Wide>{0, sent, 0}, false);
        if constexpr (with_residual)
            Whole::keep_rest_of(input_.wanted, sent, input_.residual, input_.elems);
        return Sizes::constant;
    }
    /// Returns whether there is a tolerance, and a finite value.
    bool may_have_codes() {
        bound::Survey<Wide>& survey = input_.survey;
        return !loss_.is_none() &&
               (!survey.has_specials ||
                finite_extremes(input_.wanted, input_.elems, survey.lowest, survey.highest));
    }
    /// Returns the bytes of a block without an escape.
    std::size_t least_bytes() const { return Sizes::coded(input_.elems, 0); }
    std::size_t plain_bytes() const { return Sizes::plain(input_.elems); }
    /// Chooses the grid. Returns how many bytes the block has if only what is out of reach escapes.
    std::size_t choose() {
        if (least_bytes() >= plain_bytes() ||
            !choice_.make(input_.survey.lowest, input_.survey.highest))
            return plain_bytes();
        return Sizes::coded(input_.elems, input_.elems - choice_.in_reach());
    }
    /// If the grid serves all values, makes its steps nearly as wide as the tolerance allows: there
    /// are fewer different codes then. The grid is that of a block with extremes further apart; if
    /// none serves those, it stays.
    void widen() {
        if (sizeof(Bits) == 2 || choice_.in_reach() < input_.elems) return;
        constexpr double steps = 2.0 * beside_mark<W>.highest;
        const double lowest = input_.survey.lowest, highest = input_.survey.highest;
        const double more = steps * (2 * loss_.abs) * part_of_tolerance - (highest - lowest);
        const auto further_down = static_cast<Wide>(lowest - more / 2);
        const auto further_up = static_cast<Wide>(highest + more / 2);
        if (more > 0 && is_finite(further_down) && is_finite(further_up))
            choice_.make(further_down, further_up);
    }
    /// Writes codes and escapes, by the grid that was chosen. Returns 0 if that would be no shorter
    /// than plain elements.
    std::size_t send_codes(std::byte* out) {
        switch (look()) {
            case Look::at_nothing:
                return send_codes_after<Look::at_nothing>(out);
            case Look::at_loss:
                return send_codes_after<Look::at_loss>(out);
            case Look::at_all:
                break;
        }
        return send_codes_after<Look::at_all>(out);
    }
    std::size_t send_plain(std::byte* out) {
        write_plain_mark<Wide>(out);
        if constexpr (with_residual)
            Whole::send_plain(input_.wanted, out + sizeof(Wide), input_.residual, input_.elems);
        else
            std::memcpy(out + sizeof(Wide), input_.in, input_.elems * sizeof(Bits));
        return plain_bytes();
    }

  private:
    Look look() const {
        const bound::Survey<Wide>& survey = input_.survey;
        const bool has_zero = survey.lowest <= 0 && survey.highest >= 0;
        if (survey.has_specials || survey.has_small || (has_zero && !keeps_zero(choice_.grid())))
            return Look::at_all;
        return choice_.is_sure() ? Look::at_nothing : Look::at_loss;
    }
    static bool keeps_zero(const Grid<Wide>& grid) {
        const auto code = static_cast<Wide>(grid.code_of(0, beside_mark<W>));
        return Scalar::narrow(grid.offset + code * grid.scale) == 0;
    }

    template <Look look>
    std::size_t send_codes_after(std::byte* out) {
        const Grid<Wide>& grid = choice_.grid();
        Escapes escapes;
        std::byte* const codes = out + Sizes::constant;
        if (look == Look::at_nothing || loss_.rel_limit == 0)
            Block::template quantize<with_residual, false, look>(
                input_.wanted, grid, loss_, codes, input_.residual, escapes, input_.elems);
        else
            Block::template quantize<with_residual, true, look>(
                input_.wanted, grid, loss_, codes, input_.residual, escapes, input_.elems);
        const std::size_t count = escapes.count();
        if (Sizes::coded(input_.elems, count) >= plain_bytes()) return 0;
        write_grid(out, grid, count != 0);
        if (count != 0) send_escapes(escapes, codes + Sizes::codes(input_.elems));
        return Sizes::coded(input_.elems, count);
    }
    void send_escapes(const Escapes& escapes, std::byte* to) {
        if constexpr (with_residual)
            escapes.for_each([&](std::size_t i) {
                const Wide wanted = input_.wanted[i];
                const Bits sent = Scalar::narrow(wanted);
                Scalar::store(to, sent);
                Scalar::store_wide(input_.residual + i * sizeof(Wide),
                                   Scalar::finite_or_zero(wanted - Scalar::widen(sent)));
                to += sizeof(Bits);
            });
        else
            Block::copy_escapes(input_.in, escapes, to);
    }

    /// What rounding may add is more for codes of 16 bits.
    static constexpr double part_of_tolerance = W::bits == 16 ? 7.0 / 8 : 31.0 / 32;

    EscapeInput<Wide>& input_;
    const Loss<Wide>& loss_;
    Values values_;
    GridChoice<W, T, Values> choice_;
};

/// Calls step(lanes, i, values) for elements as they lie in memory.
template <class Block, class Step>
inline void step_through(const void* elements, std::size_t elems, Step step) {
    using Bits = typename Block::Lanes::Format::Bits;
    for_lanes<typename Block::Lanes>(elems, [=](auto lanes, std::size_t i) {
        step(lanes, i, decltype(lanes)::load(element_at<Bits>(elements, i)));
    });
}

/// Decodes the codes; the grid has been looked at.
template <class Block, class Step>
inline bool decode_codes(Input& in, Grid<typename Block::Lanes::Format::Wide> grid,
                         std::size_t elems, Step step) {
    using T = typename Block::Lanes::Format;
    using Bits = typename T::Bits;
    using Sizes = EscapeSizes<typename Block::Width, Bits, typename T::Wide>;
    const std::byte* const codes = in.at + Sizes::constant;
    if (in.left < Sizes::coded(elems, 0)) return false;
    Escapes escapes;
    const bool has_escapes = is_negative(grid.scale);
    if (!Block::ends_well(codes, elems)) return false;
    if (has_escapes) Block::find_marks(codes, escapes, elems);
    const std::size_t count = escapes.count(), bytes = Sizes::coded(elems, count);
    if (has_escapes != (count != 0) || in.left < bytes || bytes >= Sizes::plain(elems))
        return false;
    grid.scale = magnitude(grid.scale);
    if (!has_escapes) {
        in.take(bytes);
        Block::dequantize(codes, grid, elems, step);
        return true;
    }
    alignas(64) Bits elements[escape_block_elems];
    Block::dequantize(codes, grid, elems, [&](auto lanes, std::size_t i, auto values) {
        decltype(lanes)::store(elements + i, values);
    });
    const std::byte* from = in.take(bytes) + Sizes::coded(elems, 0);
    escapes.for_each([&](std::size_t i) {
        std::memcpy(elements + i, from, sizeof(Bits));
        from += sizeof(Bits);
    });
    step_through<Block>(elements, elems, step);
    return true;
}

/// Takes a block; calls step(lanes, i, values) for its elements. Returns false if the bytes are no
/// encoding.
template <class Block, class Step>
inline bool decode_escape_block(Input& in, std::size_t elems, Step step) {
    using T = typename Block::Lanes::Format;
    using Wide = typename T::Wide;
    using Sizes = EscapeSizes<typename Block::Width, typename T::Bits, Wide>;
    if (in.left < sizeof(Wide)) return false;
    if (is_plain_mark<Wide>(in.at)) {
        if (in.left < Sizes::plain(elems)) return false;
        step_through<Block>(in.take(Sizes::plain(elems)) + sizeof(Wide), elems, step);
        return true;
    }
    if (in.left < Sizes::constant) return false;
    Grid<Wide> grid = read_grid<Wide>(in.at);
    if (!is_finite(grid.scale) || !is_finite(grid.offset)) return false;
    if (grid.scale == 0) {
        if (is_negative(grid.scale) || Sizes::constant >= Sizes::plain(elems)) return false;
        in.take(Sizes::constant);
        bound::decode_constant<Block>(grid.offset, elems, step);
        return true;
    }
    return decode_codes<Block>(in, grid, elems, step);
}

}  // namespace
}  // namespace gradcoll::quant
