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

template <class Block, bool with_residual>
class EscapeEncoder {
    using W = typename Block::Width;
    using Whole = typename Block::Whole;
    using T = typename Block::Lanes::Format;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Sizes = EscapeSizes<W, Bits, Wide>;
    using Values = BlockValues<Wide, Block>;
    using Scalar = ScalarLanes<T>;

  public:
    EscapeEncoder(const std::byte* in, std::byte* residual, std::size_t elems, std::byte* out)
        : in_(in), residual_(residual), elems_(elems), out_(out) {}

    /// Returns how many bytes were written.
    std::size_t encode(const Loss<Wide>& loss) {
        bound::Survey<Wide> survey = Whole::template gather<with_residual, true>(
            in_, residual_, wanted_, elems_, loss.template least_size<T>());
        if (is_constant(survey, loss)) return send_constant();
        if (loss.is_none() || !is_shorter(0)) return send_plain();
        if (survey.has_specials && !finite_extremes(wanted_, elems_, survey.lowest, survey.highest))
            return send_plain();
        const Values values{wanted_, elems_};
        GridChoice<W, T, Values> choice(values, loss);
        if (!choice.make(survey.lowest, survey.highest) || !is_shorter(elems_ - choice.in_reach()))
            return send_plain();
        switch (look_at(survey, choice)) {
            case Look::at_nothing:
                return send_codes<Look::at_nothing>(choice.grid(), loss);
            case Look::at_loss:
                return send_codes<Look::at_loss>(choice.grid(), loss);
            case Look::at_all:
                break;
        }
        return send_codes<Look::at_all>(choice.grid(), loss);
    }

  private:
    /// Returns whether codes are shorter than plain elements.
    bool is_shorter(std::size_t escapes) const {
        return Sizes::coded(elems_, escapes) < Sizes::plain(elems_);
    }

    Look look_at(const bound::Survey<Wide>& survey, const GridChoice<W, T, Values>& choice) const {
        const bool has_zero = survey.lowest <= 0 && survey.highest >= 0;
        if (survey.has_specials || survey.has_small || (has_zero && !keeps_zero(choice.grid())))
            return Look::at_all;
        return choice.is_sure() ? Look::at_nothing : Look::at_loss;
    }
    static bool keeps_zero(const Grid<Wide>& grid) {
        const auto code = static_cast<Wide>(grid.code_of(0, beside_mark<W>));
        return Scalar::narrow(grid.offset + code * grid.scale) == 0;
    }

    bool is_constant(const bound::Survey<Wide>& survey, const Loss<Wide>& loss) const {
        if (survey.has_specials || survey.lowest != survey.highest) return false;
        if (Sizes::constant >= Sizes::plain(elems_) || !Block::all_same(wanted_, elems_))
            return false;
        const Wide sent = bound::rounded_to<T>(wanted_[0]);
        return sent == wanted_[0] || loss.template takes<T>(wanted_[0], sent);
    }
    std::size_t send_constant() {
        const Wide sent = bound::rounded_to<T>(wanted_[0]);
        write_grid(out_, Grid<Wide>{0, sent, 0}, false);
        if constexpr (with_residual) Whole::keep_rest_of(wanted_, sent, residual_, elems_);
        return Sizes::constant;
    }

    std::size_t send_plain() {
        write_plain_mark<Wide>(out_);
        if constexpr (with_residual)
            Whole::send_plain(wanted_, out_ + sizeof(Wide), residual_, elems_);
        else
            std::memcpy(out_ + sizeof(Wide), in_, elems_ * sizeof(Bits));
        return Sizes::plain(elems_);
    }

    template <Look look>
    std::size_t send_codes(const Grid<Wide>& grid, const Loss<Wide>& loss) {
        Escapes escapes;
        std::byte* const codes = out_ + Sizes::constant;
        if (look == Look::at_nothing || loss.rel_limit == 0)
            Block::template quantize<with_residual, false, look>(wanted_, grid, loss, codes,
                                                                 residual_, escapes, elems_);
        else
            Block::template quantize<with_residual, true, look>(wanted_, grid, loss, codes,
                                                                residual_, escapes, elems_);
        const std::size_t count = escapes.count();
        if (!is_shorter(count)) return send_plain();
        write_grid(out_, grid, count != 0);
        if (count != 0) send_escapes(escapes, codes + Sizes::codes(elems_));
        return Sizes::coded(elems_, count);
    }
    void send_escapes(const Escapes& escapes, std::byte* to) {
        if constexpr (with_residual)
            escapes.for_each([&](std::size_t i) {
                const Bits sent = Scalar::narrow(wanted_[i]);
                Scalar::store(to, sent);
                Scalar::store_wide(residual_ + i * sizeof(Wide),
                                   Scalar::finite_or_zero(wanted_[i] - Scalar::widen(sent)));
                to += sizeof(Bits);
            });
        else
            Block::copy_escapes(in_, escapes, to);
    }

    const std::byte* in_;
    std::byte* residual_;
    std::size_t elems_;
    std::byte* out_;
    alignas(64) Wide wanted_[escape_block_elems];
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
