// nic/transport/message_note.hpp - what frames between two ranks say of messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nic/layout.hpp"

namespace gradcoll {

/// FrameSays is the kind of a note. `id` is the sender's for the message, `other_id` the
/// receiver's.
enum class FrameSays : std::uint32_t {
    whole = 1,  ///< a message, all of it
    begins,     ///< a longer one of `size_bytes`, of which `other_id` bytes come unasked: the first
    pull,       ///< from the receiver: send the rest
    more,    ///< more bytes of a message; `size_bytes` went before. `other_id` is 0 before it was
             ///< pulled
    done,    ///< from the receiver: nothing more is wanted of this message
    retract  ///< from the sender: the rest will not come
};

/// This many frames of a message leave before anybody has asked for it: about as many as the other
/// end has room for, so that a message of that length does not wait for an answer.
inline constexpr std::size_t unasked_frames = 8;

inline NicNote note_of(FrameSays says, std::uint64_t id, std::uint64_t other_id = 0) {
    NicNote note;
    note.kind = static_cast<std::uint32_t>(says);
    note.id = id;
    note.other_id = other_id;
    return note;
}

}  // namespace gradcoll
