// nic/transport/frame_pipe.hpp - numbered frames to and from ranks of other hosts: by the agents,
// and for a rank that they no longer reach, by a detour.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "nic/coded_frame.hpp"
#include "nic/layout.hpp"
#include "nic/ring.hpp"
#include "nic/shared_region.hpp"
#include "nic/transport/agent_connection.hpp"
#include "nic/transport/frame_detour.hpp"

namespace gradcoll {

/// An AgentWatch counts looks, each some time after the one before, and not time: a process that
/// was stopped itself has not seen the agent stand still. Pure but for what it is told.
class AgentWatch {
  public:
    using Clock = std::chrono::steady_clock;

    /// Takes a look. `beats` is what the agent counts. Returns false if that has stood still for
    /// nic_silence.
    bool look(std::uint64_t beats, Clock::time_point now) {
        if (beats != beats_) silent_looks_ = 0;
        if (beats == beats_ && now - last_ < interval) return silent_looks_ < most_looks;
        if (beats == beats_) ++silent_looks_;
        beats_ = beats;
        last_ = now;
        return silent_looks_ < most_looks;
    }

  private:
    static constexpr unsigned most_looks = 10;
    static constexpr Clock::duration interval = nic_silence / most_looks;

    std::uint64_t beats_ = ~std::uint64_t{0};
    Clock::time_point last_;
    unsigned silent_looks_ = 0;
};

/// SentOfSums is what leaves a host of vectors that agents add; one rank of each host has it.
struct SentOfSums {
    std::uint64_t bytes = 0;        ///< as they travel
    std::uint64_t exact_bytes = 0;  ///< without encoding
};

/// A FramePipe delivers frames of one pair and direction once each and in order, whatever becomes
/// of agents and links. The memory that a rank shares with its agent stays when the agent ends. So
/// the sender does not repeat what it knows to be delivered; it sends the rest again, and the
/// receiver knows by the number what it had already. Thread safe only from outside.
class FramePipe {
  public:
    /// `peers` lists who is reached, ascending. `detour` and the peers outlive the pipe. `rank` is
    /// this one, whose frames to itself the agent takes for pieces of sums (nic_sums.hpp); no
    /// detour has them.
    FramePipe(AgentConnection agent, std::uint32_t rank, std::vector<std::uint32_t> peers,
              FrameDetour& detour);

    std::size_t slot_bytes() const { return layout_.shape().slot_bytes; }

    // ---- out
    /// Returns whether another frame to the peer can be posted.
    bool has_room(std::uint32_t peer);
    /// Returns where the next frame's bytes go, until it is posted.
    std::byte* room(std::uint32_t peer);
    /// Posts a frame; has_room() must hold, and the bytes, if there are any, are in room(). A frame
    /// that is coded is there in its plain form (nic/coded_frame.hpp). One that has an echo is
    /// among next_echo()'s when it is delivered.
    void post(std::uint32_t peer, const NicNote& note, std::size_t size_bytes,
              NicCoding coding = NicCoding::none, bool has_echo = false) {
        post(peer,
             {.size_bytes = size_bytes, .note = note, .coding = coding, .has_echo = has_echo});
    }
    /// Returns whether a frame to the peer may have its elements in runs of this process's memory,
    /// behind the header of its plain form, which is in room() alone.
    bool takes_runs(std::uint32_t peer) const {
        return agent_.reads_memory() && !pairs_[peer].lost;
    }
    /// Posts a frame; those with runs must be such that takes_runs(). What is in runs stays as it
    /// is until the frame is delivered, or the peer is let go of.
    void post(std::uint32_t peer, OutgoingFrame frame);
    /// Lets go of what is in runs of frames to the peer that are not delivered: they take the
    /// detour, and so does all that follows.
    void let_go(std::uint32_t peer);
    /// Echo is what decoding gives of a frame that was posted.
    struct Echo {
        std::uint64_t id = 0;              ///< that of the frame's note
        std::span<const std::byte> frame;  ///< in its plain form; valid until pop_echo()
    };
    /// Returns the oldest echo of frames to the peer that is there and has not been popped, as of
    /// the last look. As long as it is not popped, few more frames can be posted.
    std::optional<Echo> next_echo(std::uint32_t peer) const;
    void pop_echo(std::uint32_t peer) { pairs_[peer].echoes.pop_front(); }
    /// Returns the bytes of one of the last slots() frames to the peer.
    const std::byte* sent(std::uint32_t peer, std::uint64_t number) const {
        return layout_.slot(NicSlots::leaving, peer, number);
    }
    std::uint64_t slots() const { return layout_.shape().slots; }
    std::uint64_t posted(std::uint32_t peer) const { return pairs_[peer].posted; }
    /// Returns how many frames the peer will find, whatever becomes of this process, as of the last
    /// look.
    std::uint64_t delivered(std::uint32_t peer) const { return pairs_[peer].delivered; }
    /// Returns the size of coded frames to the peer as they travelled, counting those that were
    /// delivered since this was last asked.
    std::size_t take_coded_bytes(std::uint32_t peer);
    /// Returns what has left this host of vectors that agents add since this was last asked.
    SentOfSums take_sent_of_sums();

    // ---- in
    /// Returns the oldest frame that has not been taken, or null; its bytes stay until it is taken.
    const ArrivedFrame* front(std::uint32_t peer);
    void pop(std::uint32_t peer);

    /// Finds out what has become of the frames to a peer, and of the way there. It is called for
    /// each from whom something is expected, too: who is lost may be waiting for a word that was
    /// under way.
    void look_at(std::uint32_t peer);
    bool is_lost(std::uint32_t peer) const { return pairs_[peer].lost; }
    /// Takes what has come, and finds out whom the agents have lost. `idle` is for how many looks
    /// nothing has happened, this one included. Errors, which stay: those of the detour; corrupt if
    /// the agent writes what cannot be.
    Status look(unsigned idle);
    /// Returns whether the agent tells of everything that comes.
    bool may_rest() const { return !any_lost_; }
    std::uint32_t news() const { return news_of(layout_); }
    /// Sleeps until there is more news than `seen`, `longest` at most; true if there is. Thread
    /// safe beside all others.
    bool rest(std::uint32_t seen, std::chrono::microseconds longest) const {
        return wait_for_news(layout_, seen, longest);
    }

  private:
    struct Pair {
        // These are for frames that leave. Numbers of frames are from 1.
        std::uint64_t posted = 0;
        std::uint64_t delivered = 0;
        std::vector<OutgoingFrame> kept;  ///< one per number modulo slots; kept until delivered
        bool has_memory = false;
        struct AwaitedEcho {
            std::uint64_t number = 0, id = 0;
            std::size_t size_bytes = 0;
            std::vector<std::byte> own;  ///< made here, since the frame took the detour
        };
        std::deque<AwaitedEcho> echoes;
        std::uint64_t coded_round = 0;  ///< bytes of coded frames that took the detour
        std::uint64_t coded_told = 0;   ///< bytes that take_coded_bytes() has told of
        // These are for frames that come.
        std::uint64_t arrived_number = 0;
        std::uint64_t taken = 0;
        std::uint64_t told = 0;        ///< how many of those taken the agent knows
        std::deque<NicEntry> arrived;  ///< frames in the peer's slots
        std::deque<DetouredFrame> detoured;
        ArrivedFrame front;

        bool lost = false;
    };

    static bool has_echo_room(const Pair& pair, std::uint64_t slots) {
        return pair.echoes.empty() || pair.posted + 1 < pair.echoes.front().number + slots;
    }
    Status make_echo(Pair& pair, std::uint64_t number, std::span<const std::byte> coded);
    bool agent_works();
    bool is_known(const NicEntry& entry) const;
    Status read_ring();
    Status read_detour();
    void lose(std::uint32_t peer, bool has_left = false);
    Status encode_and_send(std::uint32_t peer, const OutgoingFrame& frame, const std::byte* bytes);
    Status decode_detoured(DetouredFrame& frame);
    void send_round(std::uint32_t peer, const OutgoingFrame& frame, const std::byte* bytes);
    const std::byte* bytes_of_kept(std::uint32_t peer, const OutgoingFrame& frame);
    void tell_taken(std::uint32_t peer);

    AgentConnection agent_;
    NicLayout layout_;
    NicRingWriter entries_;
    NicRingReader arrivals_;
    std::uint32_t rank_;
    std::vector<std::uint32_t> peers_;
    std::vector<Pair> pairs_;  ///< one per rank
    FrameDetour& detour_;
    std::vector<std::byte> spare_;  ///< room for a frame that takes the detour
    FrameCoder coder_;              ///< coder of such frames
    SentOfSums told_of_sums_;       ///< what take_sent_of_sums() has told of
    Status fault_;
    bool any_lost_ = false;
    unsigned idle_looks_ = 0;
    AgentWatch watch_;
};

}  // namespace gradcoll
