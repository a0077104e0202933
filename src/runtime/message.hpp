// runtime/message.hpp - the steps that need a peer: starting messages, and looking at what came.
#pragma once

#include <cstdint>

#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Messages of lossy codecs carry a header (compress/frame.hpp).
constexpr bool is_framed(const Step& step) {
    return step.codec != CodecId::exact;
}

/// Writes the header at the front of a framed message that is about to leave.
void write_message_header(const Step& send, const ChunkView& view, const Operation& operation);

/// Hands a send or receive to the lane. Errors: those of the lane.
Status start_message(const Step& step, const ChunkView& view, int tag, std::uint32_t cookie,
                     Operation& operation);

/// Whether what arrived for a receive is what the plan expects: length, and the header of a framed
/// message. Errors: corrupt, peer_failed; both name peer, level and sizes or fields.
Status check_received(const Step& recv, const ChunkView& view, std::size_t received_bytes,
                      const Operation& operation);

}  // namespace gradcoll
