// compress/nm/nm_kernels.cpp - the kernels of one instruction set. The build compiles this once for
// each (gradcoll_kernels).
#include "compress/feedback/feedback.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/streaming.hpp"
#include "compress/nm/nm_stream.hpp"
#include "compress/nm/nm_window.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::nm {
namespace {

/// FeedbackCodec has what error feedback needs of a codec.
template <class Block>
struct FeedbackCodec : Stream<Block> {
    static constexpr std::size_t encoded_piece_bytes =
        block_bytes<typename Block::Shape>(sizeof(typename Block::Bits));
    static constexpr bool fuses_feedback = Block::fuses_feedback;

    static std::size_t fused_pieces(std::size_t count) {
        return Stream<Block>::direct_blocks(count);
    }
    static void encode_piece_with_residual(const std::byte* in, std::byte* residual,
                                           std::byte* out) {
        Block::encode_with_residual(in, residual, out);
    }
    /// The bytes are our own, so restoring cannot fail.
    template <class Step>
    static void restore_each(const std::byte* in, std::size_t count, Step step) {
        decode_to_stack<typename Block::Lanes, block_elems>(
            count, [&](void* out) { (void)Stream<Block>::decode(in, count, out); }, step);
    }
};

/// Coder has all kernels of one codec and type.
template <class Block>
struct Coder : Stream<Block> {
    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        BlockFeedback<FeedbackCodec<Block>, typename Block::Lanes, block_elems>::encode(
            in, residual, count, out);
    }
};

template <class Block>
Kernels kernels_of() {
    using Lanes = typename Block::Lanes;
    using Bits = typename Block::Bits;
    return streaming_kernels<Coder<Block>, Lanes, Bits, typename Lanes::Format::Wide, block_elems,
                             block_bytes<typename Block::Shape>(sizeof(Bits))>();
}

template <class Isa, class Shape>
Kernels kernels_for_type(ElementType type) {
    return for_float_type(
        type, [](auto format) { return kernels_of<BlockOf<Isa, Shape, decltype(format)>>(); });
}

template <class Isa, class Shape, class... Others>
Kernels kernels_among(int keep, int group, ElementType type) {
    if (keep == Shape::N && group == Shape::M) return kernels_for_type<Isa, Shape>(type);
    if constexpr (sizeof...(Others) > 0)
        return kernels_among<Isa, Others...>(keep, group, type);
    else
        return {};
}

}  // namespace
}  // namespace gradcoll::nm

namespace gradcoll {

Kernels GRADCOLL_OF_SET(nm_kernels)(int keep, int group, ElementType type) {
    using nm::Shape;
    return nm::kernels_among<GRADCOLL_ISA, Shape<1, 4>, Shape<2, 4>, Shape<1, 8>, Shape<2, 8>,
                             Shape<4, 8>, Shape<1, 16>>(keep, group, type);
}

}  // namespace gradcoll
