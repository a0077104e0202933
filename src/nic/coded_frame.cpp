#include "nic/coded_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "base/refusals.hpp"
#include "compress/block_lengths.hpp"
#include "compress/encode_block.hpp"
#include "compress/lossless/packer.hpp"
#include "compress/stage.hpp"
#include "nic/coded_blocks.hpp"

namespace gradcoll {
namespace {

std::size_t bound_of(const Codec& codec, std::size_t count) {
    return bound_bytes(codec.id, codec.parameters, element_bytes(codec.type), count);
}

bool is_fixed(const Codec& codec) {
    return has_fixed_rate(codec.id, codec.parameters);
}

FrameHeader header_of(const Codec& codec, std::size_t count, std::size_t payload_bytes) {
    FrameHeader header;
    header.codec = plain(codec.id);
    header.parameters = codec.parameters;
    header.type = codec.type;
    header.count_elems = count;
    header.payload_bytes = payload_bytes;
    return header;
}

/// Calls work(first element, elements) for block after block until one of them fails.
template <class Work>
Status for_blocks(const Codec& codec, std::size_t count, Work work) {
    for (std::size_t at = 0; at < count; at += block_elems(codec))
        GRADCOLL_TRY(work(at, std::min(block_elems(codec), count - at)));
    return {};
}

}  // namespace

std::size_t coded_frame_elems(const Codec& codec, std::size_t frame_bytes) {
    const std::size_t of_block =
        std::max(lossy_block_elems * element_bytes(codec.type),
                 is_fixed(codec) ? bound_of(codec, lossy_block_elems) : std::size_t{0});
    return (frame_bytes - frame_header_bytes) / of_block * lossy_block_elems;
}

NicCoding coding_of(const Codec& codec) {
    return static_cast<NicCoding>(1U + static_cast<unsigned>(codec.parameters.packing));
}

void write_plain_header(const Codec& codec, std::size_t count, std::byte* out) {
    FrameHeader header = header_of(codec, count, count * element_bytes(codec.type));
    header.is_plain = true;
    write_frame_header(header, out);
}

Result<std::span<const std::byte>> elements_of_plain(const Codec& codec,
                                                     std::span<const std::byte> frame) {
    const FrameHeader got = GRADCOLL_VALUE(read_frame_header(frame.data(), frame.size()));
    const std::span<const std::byte> elements = frame.subspan(frame_header_bytes);
    FrameHeader expected =
        header_of(codec, elements.size() / element_bytes(codec.type), elements.size());
    expected.parameters.packing =
        Packing::none;  // packing belongs to the message; each call says its tolerance
    expected.parameters.call_parts = 0;
    GRADCOLL_TRY(check_frame(got, expected));
    return elements;
}

std::uint64_t digest_of_codecs() {
    Hash hash;
    hash.value(frame_version);
    for (const CodecEntry& entry : codec_entries()) {
        const std::string_view name = entry.member->name;
        hash.value(entry.member->number).bytes(name.data(), name.size());
    }
    return hash.digest();
}

// ---- to the coded form

Result<std::span<const std::byte>> FrameCoder::encode(std::span<const std::byte> plain,
                                                      NicCoding coding, std::uint64_t spare_ns) {
    const FrameHeader header = GRADCOLL_VALUE(read_frame_header(plain.data(), plain.size()));
    const Codec codec = GRADCOLL_VALUE(codec_of(header));
    const std::span<const std::byte> elements = plain.subspan(frame_header_bytes);
    if (elements.size() != header.count_elems * element_bytes(header.type))
        return corrupt("{} elements of {} bytes each in a frame of {}", header.count_elems,
                       element_bytes(header.type), plain.size());
    const std::size_t size = GRADCOLL_VALUE(is_fixed(codec) ? encode_fixed(codec, elements)
                                                            : encode_blocks(codec, elements));
    const auto packing = static_cast<Packing>(static_cast<unsigned>(coding) - 1);
    encoded_ = {message_.data(), size};
    if (packing == Packing::none) {
        const auto batch =
            GRADCOLL_VALUE(streams_.split(codec, header.count_elems, encoded_, spare_ns));
        return batch.empty() ? encoded_ : batch;
    }
    Packer* const packs = GRADCOLL_VALUE(packer(packing));
    packed_.resize(std::max(packed_.size(), size));
    const std::size_t packed = pack_message(encoded_, *packs, packed_.data());
    return packed == 0 ? encoded_ : std::span<const std::byte>(packed_.data(), packed);
}

Result<std::size_t> FrameCoder::encode_fixed(const Codec& codec,
                                             std::span<const std::byte> elements) {
    const std::size_t count = elements.size() / element_bytes(codec.type);
    const std::size_t payload = bound_of(codec, count);
    message_.resize(std::max(message_.size(), frame_header_bytes + payload));
    codec.encode(elements.data(), count, message_.data() + frame_header_bytes);
    write_frame_header(header_of(codec, count, payload), message_.data());
    return frame_header_bytes + payload;
}

/// Encodes block by block. The list has as much room as it can need, and the blocks move up to
/// where it ends.
Result<std::size_t> FrameCoder::encode_blocks(const Codec& codec,
                                              std::span<const std::byte> elements) {
    const std::size_t elem_bytes = element_bytes(codec.type);
    const std::size_t count = elements.size() / elem_bytes;
    const std::size_t front = frame_header_bytes + block_count(codec, count) * block_length_bytes;
    message_.resize(std::max(message_.size(),
                             front + bound_of(codec, count) + bound_of(codec, block_elems(codec))));
    BlockLengthsWriter lengths(message_.data() + frame_header_bytes);
    std::size_t end = front;
    GRADCOLL_TRY(for_blocks(codec, count, [&](std::size_t at, std::size_t size) -> Status {
        const CodedBlock block =
            GRADCOLL_VALUE(encode_block(codec, {elements.data() + at * elem_bytes, nullptr, size},
                                        bound_of(codec, size), message_.data() + end));
        block.is_plain != 0 ? lengths.add_plain() : lengths.add_encoded(block.size_bytes);
        end += block.size_bytes;
        return {};
    }));
    const std::size_t list = lengths.has_encoded() ? lengths.size_bytes() : 0;
    std::memmove(message_.data() + frame_header_bytes + list, message_.data() + front, end - front);
    FrameHeader header = header_of(codec, count, list + end - front);
    header.is_plain = list == 0;
    write_frame_header(header, message_.data());
    return frame_header_bytes + header.payload_bytes;
}

// ---- and back

/// Returns the message of what travelled, if its elements need no more than `most_bytes` with a
/// header.
Result<std::span<const std::byte>> FrameCoder::unpacked(std::span<const std::byte> coded,
                                                        std::size_t most_bytes) {
    const bool is_batch = TwoStreams::is_batch(coded);
    PackedPayload packing;
    if (!is_batch) GRADCOLL_TRY(take(packing, read_packing(coded.data(), coded.size())));
    if (!is_batch && packing.by == Packing::none) return coded;
    packed_.resize(std::max(packed_.size(), most_bytes));
    const std::span<std::byte> room(packed_.data(), most_bytes);
    std::size_t size = 0;
    if (is_batch) {
        GRADCOLL_TRY(take(size, streams_.join(coded, room)));
    } else {
        Packer* const packs = GRADCOLL_VALUE(packer(packing.by));
        GRADCOLL_TRY(take(size, unpack_message(coded, *packs, room)));
    }
    return std::span<const std::byte>(room.first(size));
}

Result<std::size_t> FrameCoder::decode(std::span<const std::byte> coded,
                                       std::span<std::byte> room) {
    GRADCOLL_TRY(take(coded, unpacked(coded, room.size())));
    const FrameHeader header = GRADCOLL_VALUE(read_frame_header(coded.data(), coded.size()));
    const Codec codec = GRADCOLL_VALUE(codec_of(header));
    const std::size_t bytes = header.count_elems * element_bytes(header.type);
    if (bytes > room.size() - frame_header_bytes)
        return corrupt("{} bytes of elements in a frame with room for {}", bytes,
                       room.size() - frame_header_bytes);
    const std::span<const std::byte> payload = coded.subspan(frame_header_bytes);
    const std::span<std::byte> elements = room.subspan(frame_header_bytes, bytes);
    if (header.is_plain)
        std::memcpy(elements.data(), payload.data(), bytes);
    else if (!is_fixed(codec))
        GRADCOLL_TRY(decode_blocks(codec, payload, elements));
    else if (payload.size() != bound_of(codec, header.count_elems) ||
             !codec.decode(payload.data(), payload.size(), header.count_elems, elements.data()))
        return corrupt("{} bytes that are no {} encoding of {} elements", payload.size(),
                       name_of(codec.id), header.count_elems);
    write_plain_header(codec, header.count_elems, room.data());
    return frame_header_bytes + bytes;
}

Status FrameCoder::decode_blocks(const Codec& codec, std::span<const std::byte> payload,
                                 std::span<std::byte> elements) const {
    const std::size_t elem_bytes = element_bytes(codec.type);
    BlockReader blocks =
        GRADCOLL_VALUE(BlockReader::of(codec, elements.size() / elem_bytes, payload));
    while (!blocks.is_at_end()) {
        const CodedBlockBytes block = GRADCOLL_VALUE(blocks.next());
        std::byte* const to = elements.data() + block.first * elem_bytes;
        if (block.is_plain)
            std::memcpy(to, block.bytes.data(), block.bytes.size());
        else if (!codec.decode(block.bytes.data(), block.bytes.size(), block.elems, to))
            return corrupt("a block of {} bytes that is no {} encoding", block.bytes.size(),
                           name_of(codec.id));
    }
    return blocks.end();
}

Result<Packer*> FrameCoder::packer(Packing packing) {
    std::unique_ptr<Packer>& made = packers_[static_cast<std::size_t>(packing)];
    if (!made) GRADCOLL_TRY(take(made, make_packer(packing)));
    return made.get();
}

}  // namespace gradcoll
