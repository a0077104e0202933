#include "runtime/block_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compress/encode_block.hpp"
#include "runtime/encoded_blocks.hpp"

namespace gradcoll {
namespace {

/// Calls work(block, its elements) for the blocks of a slot until one of them fails.
template <class Work>
Status for_blocks(const Step& step, Slot slot, const ChunkView& view, Work work) {
    const auto most = static_cast<std::int64_t>(codec_block_elems(step.codec));
    Range elems{step.range.begin, step.range.begin};
    for (CodedBlock& block : view.blocks_of(step)->of(step, slot)) {
        elems = {elems.end, std::min(elems.end + most, step.range.end)};
        GRADCOLL_TRY(work(block, elems));
    }
    return {};
}

std::size_t elems_in(Range elems) {
    return static_cast<std::size_t>(elems.size());
}

/// Writes the blocks one behind the other, so that they need not be moved if they make up a
/// message.
Status encode_blocks(const Step& step, const ChunkView& view, const Codec& codec,
                     std::int64_t residual_place) {
    EncodedBlocks& blocks = *view.blocks_of(step);
    std::byte* end = view.target(step.to, step.range);
    return for_blocks(step, step.to, view, [&](CodedBlock& block, Range elems) -> Status {
        const std::size_t count = elems_in(elems);
        std::byte* const residual =
            view.residual(residual_place + elems.begin - step.range.begin, elems.begin);
        const auto encoded = encode_block(codec, {view.source(step.from, elems), residual, count},
                                          blocks.bound_of(step, count), end);
        if (!encoded.ok()) return encoded.status();
        block = blocks.block_at(end, *encoded);
        end += block.size_bytes;
        return {};
    });
}

/// Decoders tells which codec decodes a block.
struct Decoders {
    const Codec& codec;
    const Codec& exact;
    const Codec& of(const CodedBlock& block) const { return block.is_plain != 0 ? exact : codec; }
};

Status decode_blocks(const Step& step, const ChunkView& view, const Decoders& decoders) {
    const EncodedBlocks& blocks = *view.blocks_of(step);
    return for_blocks(step, step.from, view, [&](const CodedBlock& block, Range elems) {
        const bool valid = decoders.of(block).decode(blocks.bytes_of(block), block.size_bytes,
                                                     elems_in(elems), view.target(step.to, elems));
        return valid ? Status() : refused_payload(step, elems);
    });
}

Status decode_sum_blocks(const Step& step, const ChunkView& view, const Decoders& decoders) {
    const EncodedBlocks& blocks = *view.blocks_of(step);
    Step part = step;
    return for_blocks(step, step.from, view, [&](const CodedBlock& block, Range elems) {
        part.range = elems;
        const bool valid =
            decoders.of(block).decode_sum(blocks.bytes_of(block), block.size_bytes, elems_in(elems),
                                          view.first_operand(part), view.target(step.to, elems));
        return valid ? Status() : refused_payload(step, elems);
    });
}

/// Copies blocks one behind the other, as encode_blocks() writes them, from wherever each is.
Status copy_blocks(const Step& step, const ChunkView& view) {
    EncodedBlocks& blocks = *view.blocks_of(step);
    std::byte* end = view.target(step.to, step.range);
    const CodedBlock* from = blocks.of(step, step.from).data();
    return for_blocks(step, step.to, view, [&](CodedBlock& block, Range) -> Status {
        if (from->size_bytes > 0) std::memcpy(end, blocks.bytes_of(*from), from->size_bytes);
        block = blocks.block_at(end, *from);
        end += (from++)->size_bytes;
        return {};
    });
}

}  // namespace

Status refused_payload(const Step& step, Range elems) {
    return Status(Code::corrupt,
                  fmt::format("payload of elements {} to {} at level {}: not a valid {} encoding",
                              elems.begin, elems.end, step.level, name_of(step.codec)));
}

Status run_block_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_place) {
    const Codec& codec = operation.codec(step.codec);
    const Decoders decoders{codec, operation.codec(CodecId::exact)};
    switch (step.kind) {
        case StepKind::encode:
            return encode_blocks(step, view, codec, residual_place);
        case StepKind::decode:
            return decode_blocks(step, view, decoders);
        case StepKind::decode_reduce:
            return decode_sum_blocks(step, view, decoders);
        case StepKind::copy:
            return copy_blocks(step, view);
        case StepKind::reduce:
        case StepKind::send:
        case StepKind::recv:
            break;
    }
    return Status(Code::internal,
                  fmt::format("{} is no step of encoded blocks", name_of(step.kind)));
}

}  // namespace gradcoll
