// nic/transport/nic_wires.hpp - what both sides of a rank's messages share: what frames say of
// messages, the pipe, short words that wait for room in it, and what is wrong with a peer.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "nic/layout.hpp"
#include "nic/transport/frame_pipe.hpp"

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

class NicWires {
  public:
    explicit NicWires(FramePipe& frames, std::size_t ranks) : frames_(frames), words_(ranks) {}

    FramePipe& frames() { return frames_; }
    /// Sends a word as soon as there is room, before other frames.
    void say(std::uint32_t peer, const NicNote& note) {
        words_[peer].push_back(note);
        send_words(peer);
    }
    /// Returns true if all words have left.
    bool send_words(std::uint32_t peer) {
        std::deque<NicNote>& words = words_[peer];
        for (; !words.empty() && frames_.has_room(peer); words.pop_front())
            frames_.post(peer, words.front(), 0);
        return words.empty();
    }
    bool has_words(std::uint32_t peer) const { return !words_[peer].empty(); }

    void fail(std::uint32_t peer, const std::string& what) {
        if (fault_.ok()) fault_ = Status(Code::transport, fmt::format("rank {} {}", peer, what));
    }
    const Status& fault() const { return fault_; }

  private:
    FramePipe& frames_;
    std::vector<std::deque<NicNote>> words_;  ///< one per rank
    Status fault_;
};

}  // namespace gradcoll
