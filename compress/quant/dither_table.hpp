// compress/quant/dither_table.hpp - quantization that rounds by chance: the encoders, for the table
// of kernels of one instruction set. Its encodings are decoded like all quantized ones.
#pragma once

#include "compress/feedback/feedback.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/quant/quant_kernels.hpp"
#include "compress/quant/quant_table.hpp"

namespace gradcoll::quant {
namespace {

/// DitherCoder tells lanes/variable_rate.hpp how blocks are encoded. Encodings have a fixed rate
/// nevertheless.
template <class Block>
struct DitherCoder {
    using W = typename Block::Width;
    using Lanes = typename Block::Lanes;
    using Bits = typename Lanes::Format::Bits;
    using Rest = ScalarBlock<W, typename Lanes::Format>;
    using Told = ByChance;
    static constexpr std::size_t block_elems = quant::block_elems;

    static Told told_of(const CodecParameters& parameters) { return Told(parameters.seed); }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told& told) {
        if constexpr (with_residual)
            BlockFeedback<Feedback, Lanes, block_elems>::encode(in, residual, elems, out, {told});
        else
            encode_block(in, elems, out, told);
        return block_bytes(W::bits, sizeof(Bits), elems);
    }
    template <class Step>
    static bool decode(Input& in, std::size_t elems, Step step) {
        const std::size_t bytes = block_bytes(W::bits, sizeof(Bits), elems);
        if (in.left < bytes) return false;
        const std::byte* from = in.take(bytes);
        return elems < block_elems ? Rest::decode(from, step, elems) : Block::decode(from, step);
    }

  private:
    static void encode_block(const std::byte* in, std::size_t elems, std::byte* out,
                             const Told& told) {
        if (elems < block_elems)
            Rest::encode(in, out, told, elems);
        else
            Block::encode(in, out, told);
    }
    /// Feedback has what error feedback needs of a codec.
    struct Feedback {
        static constexpr std::size_t encoded_piece_bytes =
            block_bytes(W::bits, sizeof(Bits), block_elems);
        static constexpr bool fuses_feedback = false;
        const Told& told;

        void encode(const void* in, std::size_t count, std::byte* out) const {
            encode_block(static_cast<const std::byte*>(in), count, out, told);
        }
        /// The bytes are our own, so restoring cannot fail.
        template <class Step>
        static void restore_each(const std::byte* in, std::size_t count, Step step) {
            Input encoded{in, block_bytes(W::bits, sizeof(Bits), count)};
            (void)DitherCoder::decode(encoded, count, step);
        }
    };
};

/// `Block` is the instruction set's block coder.
template <template <class W, class Format> class Block>
struct RoundedByChance {
    template <class W, class Format>
    static Kernels make() {
        return variable_rate_kernels<DitherCoder<Block<W, Format>>>();
    }
};

}  // namespace
}  // namespace gradcoll::quant
