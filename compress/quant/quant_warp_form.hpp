// compress/quant/quant_warp_form.hpp - a block on a warp: each lane has eight neighbouring
// elements.
#pragma once

#include "compress/quant/quant_lane_codes.hpp"
#include "compress/quant/quant_lane_grid.hpp"
#include "compress/quant/quant_lane_share.hpp"

namespace gradcoll::quant {

/// If `aligned`, this is for whole blocks of arrays aligned to 16 bytes. Else payloads lie at any
/// multiple of two bytes, and the block may be the last one.
template <class Warp, class W, class Format, class Rounding, bool aligned>
struct WarpForm {
    using BlockGrid = LaneGrid<Warp, W, Format>;
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;

    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t block) {
        const Share share = Share::of(block, job.count);
        Values values = share.template load<Bits>(job.in);
        Wide wanted[own] = {};
        if constexpr (with_residual) {
            const auto residuals = share.template load<WideBits>(job.residual);
#pragma unroll
            for (int i = 0; i < own; ++i) {
                wanted[i] = Float::wanted(values.at[i], residuals.at[i]);
                values.at[i] = Float::narrow(wanted[i]);
            }
        }
        const auto rounding = Rounding::of(job.seed);
        const BlockGrid grid = grid_of(values, share.present, rounding);
        std::byte* out = job.out + payload_at(block);
        if (Warp::lane() == 0) grid.store(out);
        Codes codes{};
        Run<WideBits, own> residuals{};
#pragma unroll
        for (int i = 0; i < own; ++i) {
            const int code = grid.code_of(values.at[i], rounding, Warp::lane() * own + i);
            if (i < share.present) codes.put(i, code);
            if constexpr (with_residual)
                residuals.at[i] = Float::unsent(wanted[i], grid.element_of(code));
        }
        store_codes(codes, out + codes_at(), share.present);
        if constexpr (with_residual) share.template store<WideBits>(job.residual, residuals);
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t block) {
        const Share share = Share::of(block, job.count);
        const std::byte* in = job.in + payload_at(block);
        const BlockGrid grid = BlockGrid::load(in);
        const Codes codes = load_codes(in + codes_at(), share.present);
        if (!grid.is_valid() || !codes.end_well(share.present)) {
            mark_invalid<Warp>(job);
            return;
        }
        Values values{}, base{};
        if constexpr (with_base) base = share.template load<Bits>(job.base);
#pragma unroll
        for (int i = 0; i < own; ++i) {
            values.at[i] = grid.element_of(codes.get(i));
            if constexpr (with_base)
                values.at[i] = Float::template combined<LaneSum>(base.at[i], values.at[i]);
        }
        share.template store<Bits>(job.out, values);
    }

  private:
    using Share = LaneShare<Warp, block_elems, aligned>;
    static constexpr int own = Share::own;
    using Values = Run<Bits, own>;

    using Codes = LaneCodes<Warp, W, own>;
    /// Two words are loaded at once, since blocks of an aligned payload begin at multiples of 8
    /// bytes.
    static constexpr int words_at_once = Codes::words < 2 ? 1 : 2;

    static constexpr Codes load_codes(const std::byte* from, int present) {
        if constexpr (aligned)
            return Codes::template load_all<words_at_once>(from);
        else
            return Codes::load(from, present);
    }
    static constexpr void store_codes(const Codes& codes, std::byte* to, int present) {
        if constexpr (aligned)
            codes.template store_all<words_at_once>(to);
        else
            codes.store(to, present);
    }

    static constexpr std::size_t payload_at(std::size_t block) {
        return block * block_bytes(W::bits, sizeof(Bits), block_elems);
    }
    /// Returns where the lane's codes begin in the block.
    static constexpr std::size_t codes_at() {
        return header_bytes(sizeof(Bits)) + std::size_t{Warp::lane()} * (own * W::bits / 8);
    }

    static constexpr BlockGrid grid_of(const Values& values, int present,
                                       const Rounding& rounding) {
        LaneExtremes<Warp, Wide> extremes;
#pragma unroll
        for (int i = 0; i < own; ++i)
            if (i < present) extremes.add(Float::widen_number(values.at[i]));
        return BlockGrid::over(extremes.of_all_lanes(), rounding);
    }
};

}  // namespace gradcoll::quant
