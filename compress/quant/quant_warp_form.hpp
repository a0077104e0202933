// compress/quant/quant_warp_form.hpp - a block on a warp: each lane has eight neighbouring
// elements.
#pragma once

#include "compress/quant/quant_lane_grid.hpp"

namespace gradcoll::quant {

/// `aligned`: whole blocks of arrays aligned to 16 bytes. Else payloads lie at any multiple of two
/// bytes, and the block may be the last one.
template <class Warp, class W, class Format, bool aligned>
struct WarpForm {
    using BlockGrid = LaneGrid<Warp, W, Format>;
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;

    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t block) {
        const Share share = Share::of(block, job.count);
        Values values = load<Bits>(job.in, share);
        Wide wanted[own] = {};
        if constexpr (with_residual) {
            const auto residuals = load<WideBits>(job.residual, share);
#pragma unroll
            for (int i = 0; i < own; ++i) {
                wanted[i] = Float::wanted(values.at[i], residuals.at[i]);
                values.at[i] = Float::narrow(wanted[i]);
            }
        }
        const BlockGrid grid = grid_of(values, share.present);
        std::byte* out = job.out + payload_at(block);
        if (Warp::lane() == 0) grid.store(out);
        Codes codes{};
        Run<WideBits, own> residuals{};
#pragma unroll
        for (int i = 0; i < own; ++i) {
            const int code = grid.code_of(values.at[i]);
            if (i < share.present) codes.put(i, code);
            if constexpr (with_residual)
                residuals.at[i] = Float::unsent(wanted[i], grid.element_of(code));
        }
        codes.store(out + codes_at(), share.present);
        if constexpr (with_residual) store<WideBits>(job.residual, share, residuals);
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t block) {
        const Share share = Share::of(block, job.count);
        const std::byte* in = job.in + payload_at(block);
        const BlockGrid grid = BlockGrid::load(in);
        const Codes codes = Codes::load(in + codes_at(), share.present);
        if (!grid.is_valid() || !codes.end_well(share.present)) {
            mark_invalid<Warp>(job);
            return;
        }
        Values values{}, base{};
        if constexpr (with_base) base = load<Bits>(job.base, share);
#pragma unroll
        for (int i = 0; i < own; ++i) {
            values.at[i] = grid.element_of(codes.get(i));
            if constexpr (with_base)
                values.at[i] = Float::template combined<LaneSum>(base.at[i], values.at[i]);
        }
        store<Bits>(job.out, share, values);
    }

  private:
    static constexpr int own = static_cast<int>(block_elems / warp_lanes);
    using Values = Run<Bits, own>;

    /// A lane's elements: all eight in a whole block.
    struct Share {
        std::size_t first;
        int present;

        static constexpr Share of(std::size_t block, std::size_t count) {
            const std::size_t first = block * block_elems + std::size_t{Warp::lane()} * own;
            if (aligned || first + own <= count) return {first, own};
            return {first, first < count ? static_cast<int>(count - first) : 0};
        }
    };

    /// A lane's codes, as they lie in the payload.
    struct Codes {
        static constexpr int words = own * W::bits / 32;
        std::uint32_t word[words];

        constexpr void put(int i, int code) {
            constexpr std::uint32_t all = (1u << W::bits) - 1u;
            word[i * W::bits / 32] |= (static_cast<std::uint32_t>(code) & all)
                                      << (i * W::bits % 32);
        }
        constexpr int get(int i) const {
            const auto top = word[i * W::bits / 32] << (32 - W::bits - i * W::bits % 32);
            return static_cast<std::int32_t>(top) >> (32 - W::bits);
        }
        /// Whether the half byte behind an odd number of codes is 0.
        constexpr bool end_well(int present) const {
            if (W::bits != 4 || present % 2 == 0) return true;
            return word[0] >> (4 * present) == 0;
        }
        static constexpr Codes load(const std::byte* from, int present) {
            Codes codes{};
            if constexpr (aligned) {
#pragma unroll
                for (int k = 0; k < words; k += at_once) {
                    const auto part = Warp::template load<Words<at_once>>(from + 4 * k);
#pragma unroll
                    for (int j = 0; j < at_once; ++j) codes.word[k + j] = part.word[j];
                }
            } else {
                const int bytes = bytes_of(present);
#pragma unroll
                for (int b = 0; b < 4 * words; b += 2) {
                    std::uint32_t two = 0;
                    if (b + 2 <= bytes)
                        two = Warp::template load<std::uint16_t>(from + b);
                    else if (b < bytes)
                        two = Warp::template load<std::uint8_t>(from + b);
                    codes.word[b / 4] |= two << (b % 4 * 8);
                }
            }
            return codes;
        }
        constexpr void store(std::byte* to, int present) const {
            if constexpr (aligned) {
#pragma unroll
                for (int k = 0; k < words; k += at_once) {
                    Words<at_once> part{};
#pragma unroll
                    for (int j = 0; j < at_once; ++j) part.word[j] = word[k + j];
                    Warp::store(to + 4 * k, part);
                }
            } else {
                const int bytes = bytes_of(present);
#pragma unroll
                for (int b = 0; b < 4 * words; b += 2) {
                    const std::uint32_t two = word[b / 4] >> (b % 4 * 8);
                    if (b + 2 <= bytes)
                        Warp::store(to + b, static_cast<std::uint16_t>(two));
                    else if (b < bytes)
                        Warp::store(to + b, static_cast<std::uint8_t>(two));
                }
            }
        }

      private:
        /// Blocks of an aligned payload begin at multiples of 8 bytes.
        static constexpr int at_once = words < 2 ? 1 : 2;
        static constexpr int bytes_of(int present) {
            return (present * W::bits + 7) / 8;
        }
    };

    static constexpr std::size_t payload_at(std::size_t block) {
        return block * block_bytes(W::bits, sizeof(Bits), block_elems);
    }
    /// Of the lane, in the block.
    static constexpr std::size_t codes_at() {
        return header_bytes(sizeof(Bits)) + std::size_t{Warp::lane()} * (own * W::bits / 8);
    }

    template <class T>
    static constexpr Run<T, own> load(const std::byte* array, const Share& share) {
        if constexpr (aligned) {
            return load_elements<Warp, T, own>(array, share.first);
        } else {
            Run<T, own> run{};
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < share.present)
                    run.at[i] = Warp::template load<T>(array + (share.first + i) * sizeof(T));
            return run;
        }
    }
    template <class T>
    static constexpr void store(std::byte* array, const Share& share, const Run<T, own>& run) {
        if constexpr (aligned) {
            store_elements<Warp>(array, share.first, run);
        } else {
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < share.present)
                    Warp::store(array + (share.first + i) * sizeof(T), run.at[i]);
        }
    }

    static constexpr BlockGrid grid_of(const Values& values, int present) {
        typename BlockGrid::Extremes extremes;
#pragma unroll
        for (int i = 0; i < own; ++i)
            if (i < present) extremes.add(values.at[i]);
        return extremes.grid();
    }
};

}  // namespace gradcoll::quant
