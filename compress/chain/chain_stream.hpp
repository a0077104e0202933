// compress/chain/chain_stream.hpp - a whole message: N:M chooses, the quantizer encodes what it
// kept (compress/chain/README.md). Between the two a block lies on the stack, as N:M lays it out.
#pragma once

#include <cstddef>
#include <cstring>

#include "compress/chain/chain_layout.hpp"
#include "compress/chain/chain_masks.hpp"
#include "compress/feedback/feedback.hpp"
#include "compress/lanes/elementwise.hpp"
#include "compress/nm/nm_stream.hpp"
#include "compress/quant/quant_stream.hpp"

namespace gradcoll::chain {
namespace {

/// Stream has the functions of a fixed-rate codec (lanes/fixed_rate.hpp) over the block coders of
/// both stages; the quantizer's has as many values as N:M keeps of a block.
template <class NmBlock, class QuantBlock>
class Stream {
    using S = typename NmBlock::Shape;
    using W = typename QuantBlock::Width;
    using Lanes = typename NmBlock::Lanes;
    using Bits = typename NmBlock::Bits;
    using Nm = nm::Stream<NmBlock>;
    using QuantTail = quant::Stream<quant::ScalarBlock<W, typename Lanes::Format>>;
    static constexpr std::size_t plain_bytes = block_elems * sizeof(Bits);

  public:
    static constexpr std::size_t coded_bytes = block_bytes(S::N, W::bits, sizeof(Bits));

    static constexpr std::size_t bytes(std::size_t count) {
        return encoded_bytes(S::N, W::bits, sizeof(Bits), count);
    }

    static void encode(const void* in, std::size_t count, std::byte* out) {
        const auto* from = static_cast<const std::byte*>(in);
        Chosen chosen;
        for (std::size_t b = 0; b < count / block_elems; ++b) {
            NmBlock::encode(from, chosen.bytes);
            pack_masks(chosen.bytes, out);
            QuantBlock::encode(chosen.bytes + nm::block_mask_bytes, out + packed_mask_bytes);
            from += plain_bytes;
            out += coded_bytes;
        }
        if (count % block_elems != 0) encode_tail(from, count % block_elems, out, chosen);
    }

    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        BlockFeedback<Feedback, Lanes, block_elems>::encode(in, residual, count, out);
    }

    static bool decode(const std::byte* in, std::size_t count, void* out) {
        return decode_all(in, count,
                          [out](const std::byte* chosen, std::size_t first, std::size_t elems) {
                              std::byte* to = element_at<Bits>(out, first);
                              return elems == block_elems ? Nm::decode_block(chosen, to)
                                                          : Nm::decode(chosen, elems, to);
                          });
    }

    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        return decode_all(
            in, count, [base, out](const std::byte* chosen, std::size_t first, std::size_t elems) {
                const std::byte* from = element_at<Bits>(base, first);
                std::byte* to = element_at<Bits>(out, first);
                return elems == block_elems ? Nm::sum_block(chosen, from, to)
                                            : Nm::decode_sum(chosen, elems, from, to);
            });
    }

  private:
    /// Chosen is a block as N:M encodes it; a tail may have some values more than a block, of no
    /// group.
    struct Chosen {
        alignas(64) std::byte
            bytes[nm::block_bytes<S>(sizeof(Bits)) + group * sizeof(Bits) + NmBlock::overrun_bytes];
    };

    /// Feedback has what error feedback needs of a codec.
    struct Feedback {
        static constexpr std::size_t encoded_piece_bytes = coded_bytes;
        static constexpr bool fuses_feedback = false;
        static void encode(const void* in, std::size_t count, std::byte* out) {
            Stream::encode(in, count, out);
        }
        /// The bytes are our own, so restoring cannot fail.
        template <class Step>
        static void restore_each(const std::byte* in, std::size_t count, Step step) {
            if (count < block_elems)
                return decode_to_stack<Lanes, block_elems>(
                    count, [&](void* out) { (void)Stream::decode(in, count, out); }, step);
            Chosen chosen;
            (void)dequantize_block(in, chosen);
            (void)Nm::each_of_block(chosen.bytes, step);
        }
    };

    static void encode_tail(const std::byte* in, std::size_t elems, std::byte* out,
                            Chosen& chosen) {
        const Tail tail = Tail::of(S::N, elems);
        Nm::encode(in, elems, chosen.bytes);
        std::memcpy(out, chosen.bytes, tail.mask_bytes);
        QuantTail::encode(chosen.bytes + tail.mask_bytes, tail.values, out + tail.mask_bytes);
    }

    /// Calls restore(block as N:M encodes it, first element, elements) for every block and the
    /// tail.
    template <class Restore>
    static bool decode_all(const std::byte* in, std::size_t count, Restore restore) {
        Chosen chosen;
        const std::size_t whole = count / block_elems * block_elems, rest = count - whole;
        for (std::size_t first = 0; first < whole; first += block_elems, in += coded_bytes)
            if (!dequantize_block(in, chosen) || !restore(chosen.bytes, first, block_elems))
                return false;
        return rest == 0 ||
               (dequantize_tail(in, rest, chosen) && restore(chosen.bytes, whole, rest));
    }

    static bool dequantize_block(const std::byte* in, Chosen& chosen) {
        unpack_masks<S>(in, chosen.bytes);
        std::byte* values = chosen.bytes + nm::block_mask_bytes;
        return QuantBlock::decode(in + packed_mask_bytes,
                                  [values](auto lanes, std::size_t i, auto value) {
                                      decltype(lanes)::store(values + i * sizeof(Bits), value);
                                  });
    }
    static bool dequantize_tail(const std::byte* in, std::size_t elems, Chosen& chosen) {
        const Tail tail = Tail::of(S::N, elems);
        std::memcpy(chosen.bytes, in, tail.mask_bytes);
        return QuantTail::decode(in + tail.mask_bytes, tail.values, chosen.bytes + tail.mask_bytes);
    }
};

}  // namespace
}  // namespace gradcoll::chain
