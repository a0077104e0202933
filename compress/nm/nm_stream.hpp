// compress/nm/nm_stream.hpp - a whole message: blocks one after another, then the tail
// (compress/nm/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/nm/nm_block.hpp"
#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {
namespace {

/// Stream has the functions of a fixed-rate codec (lanes/fixed_rate.hpp) over a block coder
/// (nm_block.hpp). Whatever is no whole block, and the last block where the coder would overrun the
/// message, goes through a padded block on the stack.
template <class Block>
class Stream {
    using S = typename Block::Shape;
    using Lanes = typename Block::Lanes;
    using Bits = typename Block::Bits;
    using OneByOne = ScalarBlock<S, typename Lanes::Format>;
    static constexpr std::size_t elem = sizeof(Bits);
    static constexpr std::size_t plain_bytes = block_elems * elem;
    static constexpr std::size_t coded_bytes = block_bytes<S>(elem);

    struct PlainBlock {
        alignas(64) std::byte bytes[plain_bytes];
    };
    struct CodedBlock {
        alignas(64) std::byte bytes[coded_bytes + Block::overrun_bytes];
    };

  public:
    static constexpr std::size_t elem_bytes = elem;

    static constexpr std::size_t bytes(std::size_t count) {
        return count / block_elems * coded_bytes + Tail::of<S>(count % block_elems).bytes(elem);
    }

    static void encode(const void* in, std::size_t count, std::byte* out) {
        const std::byte* from = static_cast<const std::byte*>(in);
        const std::size_t direct = direct_blocks(count);
        for (std::size_t b = 0; b < direct; ++b)
            Block::encode(from + b * plain_bytes, out + b * coded_bytes);
        from += direct * plain_bytes;
        out += direct * coded_bytes;
        if (direct < count / block_elems) {
            CodedBlock coded;
            Block::encode(from, coded.bytes);
            std::memcpy(out, coded.bytes, coded_bytes);
            from += plain_bytes;
            out += coded_bytes;
        }
        if (count % block_elems != 0) encode_tail(from, count % block_elems, out);
    }

    static bool decode(const std::byte* in, std::size_t count, void* out) {
        return decode_all<Assign>(in, count, nullptr, out);
    }

    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        return decode_all<AddTo>(in, count, base, out);
    }

    /// Decodes one whole block, with Block::overrun_bytes of room behind its encoding.
    static bool decode_block(const std::byte* in, std::byte* out) {
        return restore_block<Assign>(in, nullptr, out);
    }
    static bool sum_block(const std::byte* in, const std::byte* base, std::byte* out) {
        return restore_block<AddTo>(in, base, out);
    }

    /// Calls step(lanes, i, values) for its elements.
    template <class Step>
    static bool each_of_block(const std::byte* in, Step step) {
        if (is_legal(in)) [[likely]] {
            Block::each(in, step);
            return true;
        }
        if (!is_legal_but_for_floods(in)) return false;
        OneByOne::each(in, step);
        return true;
    }

    /// Returns how many whole blocks a coder may take from (or put to) the message itself.
    static std::size_t direct_blocks(std::size_t count) {
        const std::size_t whole = count / block_elems;
        return Block::overrun_bytes > 0 && whole > 0 ? whole - 1 : whole;
    }

  private:
    static void encode_tail(const std::byte* in, std::size_t elems, std::byte* out) {
        const Tail tail = Tail::of<S>(elems);
        PlainBlock plain;
        CodedBlock coded;
        std::memcpy(plain.bytes, in, elems * elem);
        std::memset(plain.bytes + elems * elem, 0, plain_bytes - elems * elem);
        Block::encode(plain.bytes, coded.bytes);
        for (std::size_t w = 0; w < tail.mask_words; ++w)
            write_word(out, w, read_word(coded.bytes, w) & used_bits(tail, w));
        out += tail.mask_words * sizeof(std::uint32_t);
        std::memcpy(out, coded.bytes + block_mask_bytes, tail.kept * elem);
        std::memcpy(out + tail.kept * elem, in + (elems - tail.rest) * elem, tail.rest * elem);
    }

    /// Returns the bits of mask word `w` that belong to groups of the tail.
    static std::uint32_t used_bits(const Tail& tail, std::size_t w) {
        const std::size_t bits = tail.groups * S::M - w * window_elems;
        return bits >= window_elems ? 0xffffffffu : (1u << bits) - 1;
    }

    /// Decoded values become the result,
    struct Assign {
        static constexpr bool reads_base = false;
        template <class Coder>
        static void block(const std::byte* coded, const std::byte*, std::byte* out) {
            Coder::decode(coded, out);
        }
        static void rest(const std::byte* values, const std::byte*, std::byte* out,
                         std::size_t elems) {
            std::memcpy(out, values, elems * elem);
        }
    };
    /// or they are added to a base.
    struct AddTo {
        static constexpr bool reads_base = true;
        template <class Coder>
        static void block(const std::byte* coded, const std::byte* base, std::byte* out) {
            Coder::sum(coded, base, out);
        }
        static void rest(const std::byte* values, const std::byte* base, std::byte* out,
                         std::size_t elems) {
            using Scalar = ScalarLanes<typename Lanes::Format>;
            for (std::size_t at = 0; at < elems * elem; at += elem) {
                const Bits sum = sum_of<Scalar>(Scalar::load(base + at), Scalar::load(values + at));
                Scalar::store(out + at, sum);
            }
        }
    };

    template <class Restore>
    static bool decode_all(const std::byte* in, std::size_t count, const void* base, void* out) {
        const std::byte* from = static_cast<const std::byte*>(base);
        std::byte* to = static_cast<std::byte*>(out);
        const std::size_t direct = direct_blocks(count);
        for (std::size_t b = 0; b < count / block_elems; ++b) {
            if (b < direct) {
                if (!restore_block<Restore>(in, from, to)) return false;
            } else {
                CodedBlock coded;
                std::memcpy(coded.bytes, in, coded_bytes);
                if (!restore_block<Restore>(coded.bytes, from, to)) return false;
            }
            in += coded_bytes;
            to += plain_bytes;
            if constexpr (Restore::reads_base) from += plain_bytes;
        }
        return decode_tail<Restore>(in, count % block_elems, from, to);
    }

    template <class Restore>
    static bool restore_block(const std::byte* in, const std::byte* base, std::byte* out) {
        if (is_legal(in)) [[likely]] {
            Restore::template block<Block>(in, base, out);
            return true;
        }
        if (!is_legal_but_for_floods(in)) return false;
        Restore::template block<OneByOne>(in, base, out);
        return true;
    }

    /// Returns whether all mask words of a block are legal.
    static bool is_legal(const std::byte* mask) {
        using MaskWords [[gnu::vector_size(block_mask_bytes)]] = std::uint32_t;
        MaskWords words;
        std::memcpy(&words, mask, sizeof words);
        S::count_bits(words);
        words ^= S::group_lowest * S::N;
        std::uint32_t wrong = 0;
        for (std::size_t w = 0; w < block_words; ++w) wrong |= words[w];
        return wrong == 0;
    }

    [[gnu::cold]] static bool is_legal_but_for_floods(const std::byte* mask) {
        for (std::size_t w = 0; w < block_words; ++w)
            if (!S::is_legal(S::without_flood(read_word(mask, w)))) return false;
        return true;
    }

    template <class Restore>
    static bool decode_tail(const std::byte* in, std::size_t elems, const std::byte* base,
                            std::byte* out) {
        if (elems == 0) return true;
        const Tail tail = Tail::of<S>(elems);
        CodedBlock coded;
        if (!complete_mask(in, tail, coded.bytes)) return false;
        in += tail.mask_words * sizeof(std::uint32_t);
        std::byte* kept = coded.bytes + block_mask_bytes;
        std::memcpy(kept, in, tail.kept * elem);
        std::memset(kept + tail.kept * elem, 0, (S::block_kept - tail.kept) * elem);
        in += tail.kept * elem;

        PlainBlock plain;
        const std::size_t grouped_bytes = (elems - tail.rest) * elem;
        if constexpr (Restore::reads_base) {
            std::memcpy(plain.bytes, base, grouped_bytes);
            std::memset(plain.bytes + grouped_bytes, 0, plain_bytes - grouped_bytes);
            base += grouped_bytes;
        }
        if (!restore_block<Restore>(coded.bytes, plain.bytes, plain.bytes)) return false;
        std::memcpy(out, plain.bytes, grouped_bytes);
        Restore::rest(in, base, out + grouped_bytes, tail.rest);
        return true;
    }

    /// Copies the tail's mask and fills it up to a block's with legal groups. Returns false if a
    /// bit is set behind its own.
    static bool complete_mask(const std::byte* mask, const Tail& tail, std::byte* out) {
        for (std::size_t w = 0; w < block_words; ++w) {
            const bool present = w < tail.mask_words;
            const std::uint32_t used = present ? used_bits(tail, w) : 0;
            const std::uint32_t word = present ? read_word(mask, w) : 0;
            if ((word & ~used) != 0) return false;
            write_word(out, w, word | (S::first_kept & ~used));
        }
        return true;
    }
};

}  // namespace
}  // namespace gradcoll::nm
