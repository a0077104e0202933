// compress/quant/escape_warp_form.hpp - a block with escapes on a warp: each lane has sixteen
// neighbouring elements. Blocks lie where WarpJob::blocks says, at any multiple of two bytes.
#pragma once

#include "compress/block_lengths.hpp"
#include "compress/device_jobs.hpp"
#include "compress/quant/escape_lane_values.hpp"
#include "compress/quant/quant_lane_codes.hpp"
#include "compress/quant/quant_lane_grid.hpp"

namespace gradcoll::quant {

/// If `aligned`, this is for whole blocks of values aligned to 16 bytes.
template <class Warp, class W, class T, bool aligned>
struct EscapeWarpForm {
    using Float = LaneFloat<Warp, T>;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using WideBits = typename Float::WideBits;

    /// Leaves each block the room of a plain one.
    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t block) {
        const auto values = LaneValues<Warp, T, with_residual, aligned>::of(job, block);
        const std::size_t at =
            job.blocks_at + block * escape_bound_bytes(sizeof(Bits), escape_block_elems);
        const Written written = Encoder<with_residual>{job, values, job.out + at}.encode();
        if (Warp::lane() == 0)
            store_coded_block<Warp>(
                job.blocks, block,
                {at, static_cast<std::uint32_t>(written.bytes), written.is_plain ? 1u : 0u});
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t block) {
        const Share share = Share::of(block, job.count);
        const CodedBlock coded = load_coded_block<Warp>(job.blocks, block);
        Values values{};
        if (!read(job, coded, block, share, values)) {
            mark_invalid<Warp>(job);
            return;
        }
        if constexpr (with_base) {
            const Values base = share.template load<Bits>(job.base);
#pragma unroll
            for (int i = 0; i < own; ++i)
                values.at[i] = Float::template combined<LaneSum>(base.at[i], values.at[i]);
        }
        share.template store<Bits>(job.out, values);
    }

  private:
    using Share = LaneShare<Warp, escape_block_elems, aligned>;
    static constexpr int own = Share::own;
    using Values = Run<Bits, own>;
    using Codes = LaneCodes<Warp, W, own>;
    using Sizes = EscapeSizes<W, Bits, Wide>;
    static constexpr WideBits plain_mark = static_cast<WideBits>(~WideBits{0});

    /// Returns what a code stands for; what does not fit the type becomes Inf.
    static constexpr Bits element_of(const Grid<Wide>& grid, int code) {
        return Float::narrow(grid.offset + static_cast<Wide>(code) * grid.scale);
    }
    /// Returns where the lane's codes begin in the block.
    static constexpr std::size_t codes_at() {
        return Sizes::constant + std::size_t{Warp::lane()} * (own * W::bits / 8);
    }
    /// Returns whether an element of the lane is marked: bit i of the marks is its element i.
    static constexpr bool is_set(std::uint32_t marks, int i) {
        return (marks >> i & 1u) != 0;
    }

    /// Written says what a block has become.
    struct Written {
        std::size_t bytes;
        bool is_plain;
    };

    /// Encodes a block. All lanes go the same way. What encode_block() does with a codec of the CPU
    /// is done at once here: an encoding that saves no bytes is never written, but what would be
    /// made of it.
    template <bool with_residual>
    struct Encoder {
        const WarpJob& job;
        const LaneValues<Warp, T, with_residual, aligned>& values;
        std::byte* out;

        constexpr Written encode() const {
            LaneExtremes<Warp, Wide> extremes;
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < values.share().present) extremes.add(values.wanted(i));
            const Extent<Wide> extent = extremes.of_all_lanes();
            const auto loss = Loss<Wide>::of(job.abs, job.rel);
            if (is_constant(extent, loss)) return send_constant();
            if (loss.is_none() || !is_shorter(0) || !extent.has_finite) return send_plain();
            GridChoice<W, T, LaneValues<Warp, T, with_residual, aligned>> choice(values, loss);
            if (!choice.make(extent.lowest, extent.highest) ||
                !is_shorter(values.count() - choice.in_reach()))
                return send_plain();
            return send_codes(choice.grid(), loss);
        }

      private:
        constexpr std::size_t plain_bytes() const {
            return values.count() * sizeof(Bits);
        }
        /// Returns whether codes are shorter than a plain block of the format.
        constexpr bool is_shorter(std::size_t escapes) const {
            return Sizes::coded(values.count(), escapes) < Sizes::plain(values.count());
        }
        constexpr bool is_constant(const Extent<Wide>& extent, const Loss<Wide>& loss) const {
            if (extent.has_specials || extent.lowest != extent.highest ||
                Sizes::constant >= Sizes::plain(values.count()) || !values.all_same())
                return false;
            const Wide wanted = values.first_wanted();
            const Wide sent = Float::widen_number(Float::narrow(wanted));
            return sent == wanted || loss.template takes<T>(wanted, sent);
        }

        constexpr void write_header(Wide scale, Wide offset) const {
            if (Warp::lane() != 0) return;
            store_any<Warp>(out, bits_as<WideBits>(scale));
            store_any<Warp>(out + sizeof(Wide), bits_as<WideBits>(offset));
        }
        constexpr void keep(const Run<WideBits, own>& residuals) const {
            if constexpr (with_residual)
                values.share().template store<WideBits>(job.residual, residuals);
        }
        /// Returns what is left over of an element that goes as it is.
        constexpr WideBits rest_of(int i) const {
            return Float::unsent(values.wanted(i), values.as_element(i));
        }

        constexpr Written send_constant() const {
            const Bits element = Float::narrow(values.first_wanted());
            const Wide sent = Float::widen_number(element);
            Run<WideBits, own> residuals{};
            Values elements{};
#pragma unroll
            for (int i = 0; i < own; ++i) {
                residuals.at[i] = bits_as<WideBits>(values.wanted(i) - sent);
                elements.at[i] = element;
            }
            keep(residuals);
            if (!saves_bytes(Sizes::constant, plain_bytes())) return write_plain(elements);
            write_header(0, sent);
            return {Sizes::constant, false};
        }

        constexpr Written write_plain(const Values& elements) const {
            std::byte* const to = out + std::size_t{Warp::lane()} * own * sizeof(Bits);
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < values.share().present)
                    store_any<Warp>(to + i * sizeof(Bits), elements.at[i]);
            return {plain_bytes(), true};
        }

        constexpr Written send_plain() const {
            Run<WideBits, own> residuals{};
            Values elements{};
#pragma unroll
            for (int i = 0; i < own; ++i) {
                elements.at[i] = values.as_element(i);
                if constexpr (with_residual) residuals.at[i] = rest_of(i);
            }
            keep(residuals);
            return write_plain(elements);
        }

        /// Writes the elements that a receiver would make of codes and escapes.
        constexpr Written send_plain_instead(const Grid<Wide>& grid, const Codes& codes,
                                             std::uint32_t marks) const {
            Values elements{};
#pragma unroll
            for (int i = 0; i < own; ++i)
                elements.at[i] =
                    is_set(marks, i) ? values.as_element(i) : element_of(grid, codes.get(i));
            return write_plain(elements);
        }

        constexpr Written send_codes(const Grid<Wide>& grid, const Loss<Wide>& loss) const {
            Codes codes{};
            Run<WideBits, own> residuals{};
            std::uint32_t marks = 0;
#pragma unroll
            for (int i = 0; i < own; ++i) {
                const Wide wanted = values.wanted(i);
                const int code = grid.code_of(wanted, beside_mark<W>);
                const Wide sent = Float::widen_number(element_of(grid, code));
                const bool is_taken = loss.template takes<T>(wanted, sent);
                if (i < values.share().present) {
                    codes.put(i, is_taken ? code : escape_mark<W>);
                    if (!is_taken) marks |= 1u << i;
                }
                if constexpr (with_residual)
                    residuals.at[i] = is_taken ? bits_as<WideBits>(wanted - sent) : rest_of(i);
            }
            const LaneSums escapes = sums_of_lanes<Warp>(Warp::ones(marks));
            if (!is_shorter(escapes.all)) return send_plain();
            keep(residuals);
            const std::size_t bytes = Sizes::coded(values.count(), escapes.all);
            if (!saves_bytes(bytes, plain_bytes())) return send_plain_instead(grid, codes, marks);
            write_header(escapes.all != 0 ? -grid.scale : grid.scale, grid.offset);
            store(codes);
            std::byte* to = out + Sizes::coded(values.count(), 0) + escapes.before * sizeof(Bits);
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (is_set(marks, i)) {
                    store_anywhere<Warp>(to, values.as_element(i));
                    to += sizeof(Bits);
                }
            return {bytes, false};
        }

        constexpr void store(const Codes& codes) const {
            if (values.count() == escape_block_elems && is_aligned<4>(out))
                codes.template store_all<1>(out + codes_at());
            else
                codes.store(out + codes_at(), values.share().present);
        }
    };

    /// Reads the elements of a lane. Nothing else of the payload is read than the block. Returns
    /// false if it is no encoding, as all or some lanes find.
    static constexpr bool read(const WarpJob& job, const CodedBlock& coded, std::size_t block,
                               const Share& share, Values& values) {
        const std::size_t first = block * escape_block_elems;
        const std::size_t left = job.count - first;
        const std::size_t elems = left < escape_block_elems ? left : escape_block_elems;
        if (coded.offset_bytes % 2 != 0) return false;
        const std::byte* const in = job.in + coded.offset_bytes;
        if (coded.is_plain != 0) {
            if (coded.size_bytes != elems * sizeof(Bits)) return false;
            read_plain(in, share, values);
            return true;
        }
        if (coded.size_bytes < sizeof(Wide)) return false;
        const auto scale_bits = load_any<Warp, WideBits>(in);
        if (scale_bits == plain_mark) {
            if (coded.size_bytes != Sizes::plain(elems)) return false;
            read_plain(in + sizeof(Wide), share, values);
            return true;
        }
        if (coded.size_bytes < Sizes::constant) return false;
        const auto scale = bits_as<Wide>(scale_bits);
        const auto offset = bits_as<Wide>(load_any<Warp, WideBits>(in + sizeof(Wide)));
        if (!is_finite(scale) || !is_finite(offset)) return false;
        if (scale == 0) {
            if (is_negative(scale) || coded.size_bytes != Sizes::constant ||
                Sizes::constant >= Sizes::plain(elems))
                return false;
#pragma unroll
            for (int i = 0; i < own; ++i) values.at[i] = Float::narrow(offset);
            return true;
        }
        return read_codes({magnitude(scale), offset, 0}, is_negative(scale), in, elems,
                          coded.size_bytes, share, values);
    }

    static constexpr void read_plain(const std::byte* in, const Share& share, Values& values) {
        const std::byte* const from = in + std::size_t{Warp::lane()} * own * sizeof(Bits);
#pragma unroll
        for (int i = 0; i < own; ++i)
            if (i < share.present) values.at[i] = load_any<Warp, Bits>(from + i * sizeof(Bits));
    }

    static constexpr bool read_codes(const Grid<Wide>& grid, bool has_escapes, const std::byte* in,
                                     std::size_t elems, std::size_t size_bytes, const Share& share,
                                     Values& values) {
        if (size_bytes < Sizes::coded(elems, 0)) return false;
        const bool whole_words = elems == escape_block_elems && is_aligned<4>(in);
        const Codes codes = whole_words ? Codes::template load_all<1>(in + codes_at())
                                        : Codes::load(in + codes_at(), share.present);
        std::uint32_t marks = 0;
#pragma unroll
        for (int i = 0; i < own; ++i)
            if (has_escapes && i < share.present && codes.get(i) == escape_mark<W>)
                marks |= 1u << i;
        const LaneSums escapes = sums_of_lanes<Warp>(Warp::ones(marks));
        const std::size_t bytes = Sizes::coded(elems, escapes.all);
        if (has_escapes != (escapes.all != 0) || size_bytes != bytes ||
            bytes >= Sizes::plain(elems) || !codes.end_well(share.present))
            return false;
        const std::byte* from = in + Sizes::coded(elems, 0) + escapes.before * sizeof(Bits);
#pragma unroll
        for (int i = 0; i < own; ++i) {
            values.at[i] = element_of(grid, codes.get(i));
            if (is_set(marks, i)) {
                values.at[i] = load_anywhere<Warp, Bits>(from);
                from += sizeof(Bits);
            }
        }
        return true;
    }
};

}  // namespace gradcoll::quant
