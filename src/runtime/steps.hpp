// runtime/steps.hpp - what the steps of a schedule do: those that need no peer (encode, decode,
// reduce, copy) are run; messages are started, and looked at when they have come.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Runs one local step. `residual_first_elem` is only looked at for encode steps.
/// Never allocates unless it fails. Errors: corrupt if a codec refuses its input; internal for a
/// send or receive.
Status run_local_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_first_elem);

/// Runs a decode or decode_reduce step whose payload has been decoded to `elements`.
Status run_decoded(const Step& step, const ChunkView& view, const Operation& operation,
                   const std::byte* elements);

// ---- messages

/// Returns whether a message carries a header (compress/frame.hpp), as those of lossy codecs do.
constexpr bool is_framed(const Step& step) {
    return step.codec != CodecId::exact;
}

/// Writes the header of a framed message that is about to leave to its front; what follows the
/// header is there. `is_plain` becomes FrameHeader::is_plain.
void write_header(const Step& send, const MessageBytes& message, bool is_plain,
                  const Operation& operation);

/// Writes, on a rank that has failed, whose failure it is behind the header, if there is room.
void write_failure(const MessageBytes& message, const Operation& operation);

/// Hands a send or receive to the lane. Errors: those of the lane.
Status start_message(const Step& step, const MessageBytes& bytes, int tag, std::uint32_t cookie,
                     Operation& operation);

/// Hands a notice that this rank has failed to the lane, in place of a plain message of
/// `whole_bytes`.
Status start_notice(const Step& send, std::size_t whole_bytes, int tag, std::uint32_t cookie,
                    Operation& operation);

/// Hands this operation's signature to the lane, ahead of a plain message of `whole_bytes`.
Status start_signature(const Step& send, std::size_t whole_bytes, int tag, std::uint32_t cookie,
                       const Operation& operation);

/// Returns the status with the peer and the level that the message is from.
Status of_message(const Step& recv, const Status& status);

/// Arrival is what arrived for a receive.
struct Arrival {
    const std::byte* message = nullptr;  ///< where its header is, if it has one
    std::size_t expected_bytes =
        0;  ///< size of the message; the most that it may have if the codec's rate is variable
    std::size_t received_bytes = 0;
    EncodedBlocks* blocks =
        nullptr;  ///< gets the blocks of the message if the codec's rate is variable
};
/// Returns whose failure the sender tells of, if it does that instead of sending data.
std::optional<Failure> failure_in(const Step& recv, const Arrival& arrival);
/// Returns ok if the message is what the plan expects: its length, the header of a framed message,
/// and the lengths of its blocks if it has such. Errors: corrupt, peer_failed; both name peer,
/// level and sizes or fields.
Status check_received(const Step& recv, const Arrival& arrival, const Operation& operation);

}  // namespace gradcoll
