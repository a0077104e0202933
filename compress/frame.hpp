// compress/frame.hpp - the header in front of every lossy message. Layout and worked bytes:
// compress/README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// What one message says of itself. Little endian on the wire, frame_header_bytes long, then the
/// encodings of the message's ranges one after another.
struct FrameHeader {
    CodecId codec = CodecId::exact;
    ElementType type = ElementType::f32;
    bool sender_failed =
        false;  ///< the sender met an error earlier in this operation: the payload is void
    std::uint64_t count_elems = 0;    ///< sum over the message's ranges
    std::uint64_t payload_bytes = 0;  ///< bytes after the header
};
inline constexpr std::size_t frame_header_bytes =
    64;  // one cache line, so that the payload stays aligned
inline constexpr std::uint16_t frame_version = 1;

void write_frame_header(const FrameHeader& header, std::byte* out);

/// Checks magic, version, codec, type, counts and that `message_bytes` is header + payload.
/// Errors: corrupt, naming the field, the value and what was expected.
Result<FrameHeader> read_frame_header(const std::byte* message, std::size_t message_bytes);

/// Whether a header is the one that the plan expects. Errors: corrupt; peer_failed if the sender
/// says it failed.
Status check_frame(const FrameHeader& got, const FrameHeader& expected);

}  // namespace gradcoll
