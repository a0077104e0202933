// transport/nic/message_note.hpp - what frames between two ranks say of messages.
#pragma once

#include "nic/layout.hpp"

namespace gradcoll {

/// Kinds of notes. `id` is the sender's of the message, `other_id` the receiver's.
enum class FrameSays : std::uint32_t {
    whole = 1,  ///< a message, all of it
    begins,     ///< a longer one of `size_bytes`: its first bytes
    pull,       ///< from the receiver: send the rest
    more,       ///< of a message that was pulled; `size_bytes` went before
    done,       ///< from the receiver: nothing more is wanted of this message
    retract     ///< from the sender: the rest will not come
};

inline NicNote note_of(FrameSays says, std::uint64_t id, std::uint64_t other_id = 0) {
    NicNote note;
    note.kind = static_cast<std::uint32_t>(says);
    note.id = id;
    note.other_id = other_id;
    return note;
}

}  // namespace gradcoll
