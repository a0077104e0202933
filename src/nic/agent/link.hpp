// nic/agent/link.hpp - the connection to the agent of another host, for one group: frames of its
// ranks in turns, and what comes from there.
#pragma once

#include <sys/uio.h>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "nic/agent/group_sums.hpp"
#include "nic/agent/member.hpp"
#include "nic/agent/poller.hpp"
#include "nic/agent/status.hpp"
#include "nic/coded_frame.hpp"

namespace gradcoll {

class Link final : public Watched {
  public:
    /// The references have to be valid as long as the link.
    struct Around {
        Poller& poller;
        AgentCounters& counters;
        LocalMembers& members;
        GroupSums& sums;
    };
    /// `lost` is told when the link has failed, once; the link is then of no use any more.
    Link(const Around& around, std::uint32_t host, Descriptor socket,
         std::function<void(const Status&)> lost);
    ~Link() override;
    /// Begins to listen. `first` is what came behind the introduction.
    Status begin(std::span<const std::byte> first);

    std::uint32_t host() const { return host_; }
    /// Lines up a pair that has something to send or to tell.
    void line_up(const std::shared_ptr<NicMember>& member, std::uint32_t peer);
    /// Tells the other agent that a rank of this host has left.
    void tell_gone(std::uint32_t rank);
    /// Lines up a frame of a sum. The bytes stay as they are as long as somebody else holds them.
    void line_up(const LinkFrame& frame, SumBytes bytes);
    /// Tells the other agent that this one works. Called once in nic_beat. Fails if the other has
    /// been silent.
    void beat();
    /// Sends what can be sent now, as far as a turn goes.
    void send();
    /// Returns for how long the wire has enough to do: so long may packing take.
    std::uint64_t spare_ns() const;
    /// A Wrong is a rank here whose frames cannot be encoded, since the last time.
    struct Wrong {
        std::uint32_t rank = 0;
        Status why;
    };
    std::vector<Wrong> take_wrong() { return std::exchange(wrong_, {}); }
    void ready() override;

  private:
    /// Place is a pair of a rank here and one there.
    struct Place {
        std::shared_ptr<NicMember> member;
        std::uint32_t peer = 0;
    };
    static constexpr std::size_t frames_at_once = 16;

    void fill_batch();
    void add_to_batch(LinkFrame frame, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner);
    void add_data(const Place& place);
    void add_coded(LinkFrame frame, const std::shared_ptr<NicMember>& member);
    Result<std::span<const std::byte>> coded(const LinkFrame& frame, NicMember& member);
    void add_words(const Place& place);
    bool is_full() const { return has_coded_ || batch_count_ >= frames_at_once - 1; }
    Status write_batch(bool& blocked);
    Status receive();
    Status take_buffered();
    Status begin_frame();
    Status end_frame();
    Status take_data_room();
    Status end_data();
    void count_arrived();
    Status begin_of_sum();
    std::uint32_t slot_bytes() const;
    Result<std::size_t> decode();
    void fail(const Status& status);

    Around around_;
    std::uint32_t host_;
    Descriptor socket_;
    std::function<void(const Status&)> lost_;
    bool failed_ = false;
    bool wants_to_write_ = false;

    // These are for frames that leave.
    std::deque<Place> line_;           ///< pairs with frames
    std::vector<Place> due_;           ///< pairs with words
    std::vector<std::uint32_t> gone_;  ///< ranks that have left
    std::deque<std::pair<LinkFrame, SumBytes>> of_sums_;
    bool is_beat_due_ = false;
    std::array<LinkFrame, frames_at_once> frames_{};
    std::array<iovec, 2 * frames_at_once> parts_{};
    std::array<std::shared_ptr<const void>, frames_at_once>
        owners_;  ///< owners of the bytes in the parts
    std::size_t batch_count_ = 0;
    std::size_t part_count_ = 0;
    std::size_t next_part_ = 0;
    bool has_coded_ = false;         ///< the batch ends with a frame that lies in `encoder_`
    std::vector<std::byte> copied_;  ///< what is encoded: the rank cannot change it meanwhile
    FrameCoder encoder_;
    std::vector<Wrong> wrong_;

    // These are for frames that come.
    unsigned silent_beats_ = 0;  ///< beats of this agent since something came
    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool in_frame_ = false;
    LinkFrame frame_;
    std::byte* room_ = nullptr;  ///< where the frame's bytes go
    std::size_t taken_bytes_ = 0;
    std::byte* slot_ = nullptr;        ///< slot of the rank for what a coded frame is decoded to
    std::vector<std::byte> own_room_;  ///< room for coded frames, and for ranks that have gone
    FrameCoder decoder_;
    std::shared_ptr<NicMember> target_;  ///< null: it has gone
};

}  // namespace gradcoll
