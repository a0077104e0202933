// compress/frame.hpp - the header in front of every lossy message. Layout and worked bytes:
// compress/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// FrameHeader is what one message says of itself. It is little endian on the wire,
/// frame_header_bytes long; then comes the payload: the encodings of the message's ranges one after
/// another. A codec of variable rate encodes block by block (codec_block_elems()), and the payload
/// begins with a list of how long they are (compress/block_lengths.hpp), unless all blocks are
/// plain elements.
struct FrameHeader {
    CodecId codec = CodecId::exact;  ///< plain()
    CodecParameters parameters;      ///< parameters of the encoder
    ElementType type = ElementType::f32;
    bool sender_failed =
        false;  ///< the sender met an error earlier in this operation: the payload is void
    std::uint64_t count_elems = 0;    ///< sum over the message's ranges
    std::uint64_t payload_bytes = 0;  ///< bytes after the header, lengths of blocks included
    bool is_plain =
        false;  ///< with a codec of variable rate: the payload is the elements themselves
};
inline constexpr std::size_t frame_header_bytes =
    64;  // one cache line, so that the payload stays aligned
inline constexpr std::uint16_t frame_version = 4;

void write_frame_header(const FrameHeader& header, std::byte* out);

/// Checks magic, version, codec, type, counts and that `message_bytes` is header + payload.
/// Errors: corrupt, naming the field, the value and what was expected.
Result<FrameHeader> read_frame_header(const std::byte* message, std::size_t message_bytes);

/// Checks that a header is the one that the plan expects. For a codec of variable rate `expected`
/// says how long the payload is at most. Errors: corrupt; peer_failed if the sender says it failed.
Status check_frame(const FrameHeader& got, const FrameHeader& expected);

// ---- lengths of blocks, in the payload of a codec of variable rate

/// Returns how many blocks `count_elems` elements are encoded in; 0 for a codec of fixed rate.
std::size_t counted_blocks(CodecId codec, std::size_t count_elems);
/// Returns the bytes of a message in front of its encodings: none if it is exact, the header, and
/// for a codec of variable rate the most that the lengths of its blocks take.
std::size_t frame_front_bytes(CodecId codec, std::size_t count_elems);

// ---- messages whose payload is packed once more, without loss (compress/lossless)

/// PackedPayload is what a header says of packing. If a message is as it is, `by` is none, and both
/// lengths are the same.
struct PackedPayload {
    Packing by = Packing::none;
    std::uint64_t packed_bytes = 0;
    std::uint64_t plain_bytes = 0;
};

/// Makes the header of a message that of the packed one. `packed_bytes` must be less than the
/// payload was.
void write_packing(std::byte* header, Packing by, std::uint64_t packed_bytes);
/// Checks what write_packing() wrote, and that `message_bytes` is header + packed payload. Whatever
/// else the header says, also where nothing is packed, read_frame_header() checks. Errors: corrupt.
Result<PackedPayload> read_packing(const std::byte* message, std::size_t message_bytes);
/// Restores the header as it was before write_packing().
void clear_packing(std::byte* header);

// ---- messages that say where their payload lies, instead of carrying it

/// Sets the flag in a header that says so.
void set_reference_flag(std::byte* header, bool by_reference);
/// Returns whether the flag is set. Errors: corrupt if the message does not begin with a header.
Result<bool> has_reference_flag(const std::byte* message, std::size_t message_bytes);

}  // namespace gradcoll
