// nic/transport/nic_wires.hpp - what both sides of a rank's messages share: the pipe, short words
// that wait for room in it, and what is wrong with a peer.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "nic/transport/frame_pipe.hpp"
#include "nic/transport/message_note.hpp"

namespace gradcoll {

class NicWires {
  public:
    explicit NicWires(FramePipe& frames, std::size_t ranks) : frames_(frames), words_(ranks) {}

    FramePipe& frames() { return frames_; }
    /// Sends a word as soon as there is room, before other frames.
    void say(std::uint32_t peer, const NicNote& note);
    /// Returns true if all words have left.
    bool send_words(std::uint32_t peer);
    bool has_words(std::uint32_t peer) const { return !words_[peer].empty(); }

    void fail(std::uint32_t peer, const std::string& what);
    const Status& fault() const { return fault_; }

  private:
    FramePipe& frames_;
    std::vector<std::deque<NicNote>> words_;  ///< one per rank
    Status fault_;
};

}  // namespace gradcoll
