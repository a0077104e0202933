// compress/chain/chain_warp_form.hpp - a block of a chain on a warp: N:M as a warp form has it, one
// element of every window a lane; then the grid and the codes of what is kept. For any alignment
// and for the last block.
#pragma once

#include "compress/chain/chain_layout.hpp"
#include "compress/nm/nm_warp_form.hpp"
#include "compress/quant/quant_lane_grid.hpp"

namespace gradcoll::chain {

/// BlockPlace says where a block of a message lies, and what of it there is.
struct BlockPlace {
    std::size_t first;       ///< its first element
    std::size_t at;          ///< bytes before its masks
    std::size_t elems;       ///< block_elems but for the last one
    std::size_t mask_bytes;  ///< size of its masks; then come the quantizer's blocks
    std::size_t values;      ///< how many values are kept, or are of no group

    template <class S, class W>
    static constexpr BlockPlace of(std::size_t index, std::size_t count, std::size_t elem_bytes) {
        const std::size_t first = index * block_elems, left = count - first;
        const std::size_t at = index * block_bytes(S::N, W::bits, elem_bytes);
        if (left >= block_elems) return {first, at, block_elems, packed_mask_bytes, S::block_kept};
        const Tail tail = Tail::of(S::N, left);
        return {first, at, left, tail.mask_bytes, tail.values};
    }
    constexpr bool is_whole() const { return elems == block_elems; }
    /// Returns which lanes of a window belong to whole groups; present() which hold an element.
    constexpr unsigned grouped(unsigned window) const {
        return lanes_from(window, elems / group * group);
    }
    constexpr unsigned present(unsigned window) const { return lanes_from(window, elems); }

  private:
    static constexpr unsigned lanes_from(unsigned window, std::size_t end) {
        const std::size_t before = window * nm::window_elems;
        return end <= before ? 0 : nm::lanes_of(end - before);
    }
};

template <class Warp, class S, class W, class Format>
struct WarpForm {
    using BlockGrid = quant::LaneGrid<Warp, W, Format>;
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;
    using Key = std::conditional_t<sizeof(Bits) == 8, std::int64_t, std::int32_t>;

    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t block) {
        const auto place = BlockPlace::of<S, W>(block, job.count, sizeof(Bits));
        const unsigned lane = Warp::lane();
        Bits values[windows] = {};
        Wide wanted[with_residual ? windows : 1] = {};
        std::uint32_t words[windows] = {}, masks[windows] = {};
#pragma unroll
        for (unsigned w = 0; w < windows; ++w) {
            const std::size_t at = place.first + w * nm::window_elems + lane;
            if (lane < place.present(w)) {
                values[w] = Warp::template load<Bits>(job.in + at * sizeof(Bits));
                if constexpr (with_residual) {
                    wanted[w] = Float::wanted(
                        values[w], Warp::template load<WideBits>(job.residual + at * sizeof(Wide)));
                    values[w] = Float::narrow(wanted[w]);
                }
            }
            const Bits size = Float::magnitude(values[w]);
            const std::uint32_t groups = nm::lowest_bits(place.grouped(w));
            words[w] =
                nm::kept_word<nm::WarpMachine<Warp, Key>, S>(static_cast<Key>(size)) & groups;
            const bool is_special = size > largest_finite_bits<Format>();
            masks[w] = words[w] | nm::flooded<S>(Warp::ballot(is_special) & groups, words[w]);
        }
        store_masks(job.out + place.at, place, masks);
        std::byte* const quantized = job.out + place.at + place.mask_bytes;
#pragma unroll
        for (unsigned part = 0; part < most_parts; ++part) {
            if (part * quant::block_elems >= place.values) break;  // the same in all lanes
            const BlockGrid grid = grid_of_part(part, values, words, place);
            if (lane == 0) grid.store(quantized + part * part_bytes);
#pragma unroll
            for (unsigned w = 0; w < windows; ++w) {
                const Share share = Share::of(w, words[w], place);
                const bool is_own = share.is_in(part);
                const int code = is_own ? grid.code_of(values[w], quant::ToNearest{}, 0) : 0;
                put_code(quantized + part * part_bytes, share, is_own, code);
                if constexpr (with_residual)
                    if (is_own) values[w] = grid.element_of(code);
            }
        }
        if constexpr (with_residual) {
#pragma unroll
            for (unsigned w = 0; w < windows; ++w)
                if (lane < place.present(w))
                    Warp::store(
                        job.residual + (place.first + w * nm::window_elems + lane) * sizeof(Wide),
                        unsent(wanted[w], values[w], Share::of(w, words[w], place).is_sent,
                               S::full_groups_of(masks[w])));
        }
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t block) {
        const auto place = BlockPlace::of<S, W>(block, job.count, sizeof(Bits));
        const unsigned lane = Warp::lane();
        std::uint32_t masks[windows] = {};
        load_masks(job.in + place.at, place, masks);
        bool is_legal = true;
#pragma unroll
        for (unsigned w = 0; w < windows; ++w)
            is_legal = is_legal && nm::is_legal_of<S>(masks[w], place.grouped(w));
        const std::byte* const quantized = job.in + place.at + place.mask_bytes;
        BlockGrid grids[most_parts] = {};
#pragma unroll
        for (unsigned part = 0; part < most_parts; ++part)
            if (part * quant::block_elems < place.values) {
                grids[part] = BlockGrid::load(quantized + part * part_bytes);
                is_legal = is_legal && grids[part].is_valid();
            }
        if (!is_legal || !ends_well(quantized, place)) {
            mark_invalid<Warp>(job);  // it is the same in all lanes
            return;
        }
#pragma unroll
        for (unsigned w = 0; w < windows; ++w) {
            if (lane >= place.present(w)) break;
            const Share share = Share::of(w, S::without_flood(masks[w]), place);
            Bits value = 0;
            if (nm::keeps(S::full_groups_of(masks[w]), lane))
                value = nm::flood<Bits>();
            else if (share.is_sent)
                value = share.is_in(0) ? grids[0].element_of(get_code(quantized, share))
                                       : grids[1].element_of(get_code(quantized, share));
            const std::size_t at = (place.first + w * nm::window_elems + lane) * sizeof(Bits);
            if constexpr (with_base)
                value = Float::template combined<LaneSum>(Warp::template load<Bits>(job.base + at),
                                                          value);
            Warp::store(job.out + at, value);
        }
    }

  private:
    static constexpr unsigned windows = nm::block_words;
    /// A tail may have one value more than a block of the quantizer.
    static constexpr unsigned most_parts = 2;
    static constexpr std::size_t part_bytes =
        quant::block_bytes(W::bits, sizeof(Bits), quant::block_elems);

    /// Share is a lane's element of a window as one of the quantizer's values.
    struct Share {
        bool is_sent;
        std::size_t index;  ///< number among the values
        unsigned next;      ///< the lane with the value behind it, if its code shares the byte
        bool has_next;

        /// Returns the share of the lane; `word` is what N:M keeps. Elements of no group go behind
        /// that.
        static constexpr Share of(unsigned window, std::uint32_t word, const BlockPlace& place) {
            const unsigned lane = Warp::lane();
            const std::uint32_t sent = word | (nm::lowest_bits(place.present(window)) &
                                               ~nm::lowest_bits(place.grouped(window)));
            const std::size_t before = Warp::ones(nm::kept_before(sent, lane));
            const std::uint32_t above = sent & ~((2u << lane) - 1u);
            return {nm::keeps(sent, lane), window * S::window_kept + before,
                    above == 0 ? lane : Warp::ones((above & (~above + 1u)) - 1u), above != 0};
        }
        constexpr bool is_in(unsigned part) const {
            return is_sent && index / quant::block_elems == part;
        }
        constexpr std::size_t in_part() const { return index % quant::block_elems; }
    };

    static constexpr BlockGrid grid_of_part(unsigned part, const Bits (&values)[windows],
                                            const std::uint32_t (&words)[windows],
                                            const BlockPlace& place) {
        quant::LaneExtremes<Warp, Wide> extremes;
#pragma unroll
        for (unsigned w = 0; w < windows; ++w)
            if (Share::of(w, words[w], place).is_in(part))
                extremes.add(Float::widen_number(values[w]));
        return BlockGrid::over(extremes.of_all_lanes(), quant::ToNearest{});
    }

    /// Writes the codes. If they have 4 bits, the lane with the first of a byte writes both; a
    /// window has whole bytes.
    static constexpr void put_code(std::byte* part, const Share& share, bool is_own, int code) {
        std::byte* const codes = part + quant::header_bytes(sizeof(Bits));
        if constexpr (W::bits == 4) {
            const int next = Warp::shuffle(code, share.next);
            const int both = (code & 0xf) | (share.has_next ? (next & 0xf) << 4 : 0);
            if (is_own && share.in_part() % 2 == 0)
                Warp::store(codes + share.in_part() / 2, static_cast<std::uint8_t>(both));
        } else {
            static_assert(W::bits == 8);
            if (is_own) Warp::store(codes + share.in_part(), static_cast<std::uint8_t>(code));
        }
    }
    static constexpr int get_code(const std::byte* quantized, const Share& share) {
        const std::byte* const codes = quantized + share.index / quant::block_elems * part_bytes +
                                       quant::header_bytes(sizeof(Bits));
        constexpr std::size_t per_byte = 8 / W::bits;
        const std::uint32_t byte =
            Warp::template load<std::uint8_t>(codes + share.in_part() / per_byte);
        const unsigned above = W::bits == 4 && share.in_part() % 2 == 0 ? 28 : 24;
        return static_cast<std::int32_t>(byte << above) >> (32 - W::bits);
    }
    /// Returns whether the half byte behind an odd number of codes is 0.
    static constexpr bool ends_well(const std::byte* quantized, const BlockPlace& place) {
        if (W::bits != 4 || place.values % 2 == 0) return true;
        const std::size_t last = place.values - 1;
        const std::byte* const codes =
            quantized + last / quant::block_elems * part_bytes + quant::header_bytes(sizeof(Bits));
        return Warp::template load<std::uint8_t>(codes + last % quant::block_elems / 2) >> 4 == 0;
    }

    static constexpr WideBits unsent(Wide wanted, Bits sent, bool is_sent,
                                     std::uint32_t flood_lanes) {
        if (nm::keeps(flood_lanes, Warp::lane())) return 0;
        return Float::unsent(wanted, is_sent ? sent : Bits{0});
    }

    /// Writes the masks: lane k packed word k of a whole block, the first lane all of a tail.
    static constexpr void store_masks(std::byte* out, const BlockPlace& place,
                                      const std::uint32_t (&masks)[windows]) {
        const unsigned lane = Warp::lane();
        if (place.is_whole()) {
#pragma unroll
            for (unsigned k = 0; k < packed_words; ++k) {
                const std::uint32_t last = masks[packed_words + k % 4] << (3 - k / 4);
                if (lane == k)
                    store_any<Warp>(out + k * sizeof(std::uint32_t),
                                    (masks[k] & first_three) | (last & last_of_four));
            }
        } else {
#pragma unroll
            for (unsigned w = 0; w < windows; ++w)
                if (lane == 0 && place.grouped(w) > 0)
                    store_any<Warp>(out + w * sizeof(std::uint32_t), masks[w]);
        }
    }
    static constexpr void load_masks(const std::byte* in, const BlockPlace& place,
                                     std::uint32_t (&masks)[windows]) {
        if (place.is_whole()) {
#pragma unroll
            for (unsigned k = 0; k < packed_words; ++k) {
                const auto packed = load_any<Warp, std::uint32_t>(in + k * sizeof(std::uint32_t));
                masks[packed_words + k % 4] |= (packed & last_of_four) >> (3 - k / 4);
                masks[k] = with_last_bits<S>(packed & first_three);
            }
#pragma unroll
            for (unsigned k = packed_words; k < windows; ++k)
                masks[k] = with_last_bits<S>(masks[k]);
        } else {
#pragma unroll
            for (unsigned w = 0; w < windows; ++w)
                if (place.grouped(w) > 0)
                    masks[w] = load_any<Warp, std::uint32_t>(in + w * sizeof(std::uint32_t));
        }
    }
    static constexpr unsigned packed_words = packed_mask_bytes / sizeof(std::uint32_t);
};

}  // namespace gradcoll::chain
