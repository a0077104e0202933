// compress/quant/quant_kernels.cpp - the kernels of one instruction set: to nearest, and by chance.
// The build compiles this once for each (gradcoll_kernels).
#include "compress/feedback/feedback.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/streaming.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/quant/quant_by_type.hpp"
#include "compress/quant/quant_stream.hpp"
#include "compress/quant/quant_vector_block.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll::quant {
namespace {

template <class Block>
Kernels kernels_of() {
    using Format = typename Block::Lanes::Format;
    using Bits = typename Format::Bits;
    constexpr std::size_t piece = 8 * block_elems;  // encoded, too, these are whole cache lines
    return streaming_kernels<Stream<Block>, typename Block::Lanes, Bits, typename Format::Wide,
                             piece, encoded_bytes(Block::Width::bits, sizeof(Bits), piece)>();
}

template <class Isa>
struct RoundedToNearest {
    template <class W, class Format>
    static Kernels make() {
        return kernels_of<BlockOf<Isa, W, Format>>();
    }
};

/// DitherCoder tells lanes/variable_rate.hpp how blocks are encoded by chance. Encodings have a
/// fixed rate nevertheless, and are decoded like those to nearest.
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

template <class Isa>
struct RoundedByChance {
    template <class W, class Format>
    static Kernels make() {
        return variable_rate_kernels<DitherCoder<BlockOf<Isa, W, Format>>>();
    }
};

}  // namespace
}  // namespace gradcoll::quant

namespace gradcoll {

Kernels GRADCOLL_OF_SET(quant_kernels)(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedToNearest<GRADCOLL_ISA>>(bits, type);
}
Kernels GRADCOLL_OF_SET(dither_kernels)(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedByChance<GRADCOLL_ISA>>(bits, type);
}

}  // namespace gradcoll
