// nic/agent/member.hpp - one rank of this host in a group: its memory, and how far its frames to
// and from each rank of other hosts are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nic/agent/wire.hpp"
#include "nic/rank_memory.hpp"
#include "nic/ring.hpp"
#include "nic/shared_region.hpp"

namespace gradcoll {

/// NicMember checks what the rank writes as it is read. No words of the rank lead outside its
/// memory, or keep the agent from others. It knows nothing of the network.
class NicMember {
  public:
    /// A Pair is the rank and one other. Numbers of frames are from 1.
    struct Pair {
        // Frames that leave have sent <= posted and delivered <= sent; `allowed` is as far as the
        // other has room.
        std::uint64_t posted = 0;
        std::uint64_t sent = 0;
        std::uint64_t delivered = 0;
        std::uint64_t told = 0;  ///< how many of those delivered the rank was woken for
        std::uint64_t allowed = 0;
        std::vector<NicEntry> waiting;  ///< one per number modulo slots; posted and not sent
        // Frames that come have consumed <= received.
        std::uint64_t received = 0;
        std::uint64_t consumed = 0;
        // The other's agent has yet to hear these.
        bool tells_delivered = false;
        bool tells_consumed = false;
        // The link has lists; these say which ones the pair is in.
        bool in_line = false;
        bool is_due = false;
        bool has_room = false;  ///< memory for frames that come is there
        bool has_echo_room = false;
        bool is_stopped = false;  ///< a frame of the rank cannot be sent: nothing is any more

        bool may_send() const { return !is_stopped && sent < posted && sent < allowed; }
    };

    /// `memory` is the rank's; it may be one of which nothing can be read.
    NicMember(std::uint32_t rank, SharedRegion region, RankMemory memory = {});

    std::uint32_t rank() const { return rank_; }
    const NicShape& shape() const { return region_.layout().shape(); }
    Pair& pair(std::uint32_t peer) { return pairs_[peer]; }

    /// Taken says what the rank wants next.
    struct Taken {
        std::uint32_t peer = 0;
        NicEntryKind kind = NicEntryKind::frame;
    };
    /// Takes the rank's next entry, if there is one. Errors: corrupt if it cannot be right.
    Result<std::optional<Taken>> take_entry();
    bool has_entries() const { return !entries_.is_empty(); }

    /// Returns the next frame to the peer; may_send() must hold.
    LinkFrame next_frame(std::uint32_t peer);
    /// Returns the frame's bytes, which the rank does not touch until it is delivered, if it keeps
    /// to the rules.
    std::span<const std::byte> bytes_of(const LinkFrame& frame) const;

    /// Copies the bytes of a coded frame, which has been taken with next_frame(), to `to`, whose
    /// size they have, from wherever they are. Returns false if the rank has withdrawn them.
    /// Errors: those of copy_piece().
    Result<bool> copy_frame(const LinkFrame& frame, std::span<std::byte> to) const {
        return copy(frame.target, frame.number, to);
    }

    /// Returns whether the rank wants to have what decoding gives of the frame, which has been
    /// taken with next_frame().
    bool wants_echo(const LinkFrame& frame) const;
    /// Returns where that belongs. Errors: out_of_memory.
    Result<std::span<std::byte>> room_for_echo(const LinkFrame& frame);
    /// Takes note of how long a coded frame to the peer is on its way.
    void coded(std::uint32_t peer, std::size_t size_bytes) {
        region_.layout().peer(peer).coded_bytes.fetch_add(size_bytes, std::memory_order_relaxed);
    }

    /// Returns where the bytes of a frame for the rank belong. Errors: corrupt if it is not the
    /// next one, or there is no room for it; out_of_memory.
    Result<std::byte*> room_for(const LinkFrame& frame);
    /// Takes note that `size_bytes` bytes are there; those of a coded frame are in its plain form.
    /// Errors: corrupt if the rank's counters lie.
    Status arrived(const LinkFrame& frame, std::size_t size_bytes);
    /// Takes a frame that says how far the other is. Errors: corrupt if it cannot be.
    Status take_word(const LinkFrame& frame);
    /// Returns a frame of that kind that says how far this rank is with what the peer sent.
    LinkFrame word_for(std::uint32_t peer, FrameKind kind) const;

    // ---- sums: frames of the rank to itself are pieces of what it hands in, by their numbers

    std::uint64_t handed_in() const { return pairs_[rank_].posted; }
    /// Returns the entry of piece `number`, one of the last handed in.
    const NicEntry& piece(std::uint64_t number) const {
        return pairs_[rank_].waiting[number % shape().slots];
    }
    /// Returns the bytes of a piece; nothing if they are not in its slot.
    std::span<const std::byte> bytes_of_piece(std::uint64_t number) const;
    /// Copies the bytes of a piece to `to`, whose size they have, from wherever they are. Errors:
    /// corrupt if where they are cannot be; io if they cannot be read there; peer_failed if the
    /// rank has withdrawn them, and so may have changed them.
    Status copy_piece(std::uint64_t number, std::span<std::byte> to) const;
    /// Returns where the sum of a piece belongs. Errors: those of room_for().
    Result<std::byte*> room_for_sum(std::uint64_t number);
    /// Takes note of bytes of sums that leave this host, as they travel and before that.
    void sends_of_sums(std::size_t size_bytes, std::size_t plain_bytes) {
        NicPeerWords& words = region_.layout().peer(rank_);
        words.coded_bytes.fetch_add(size_bytes, std::memory_order_relaxed);
        words.summed_bytes.fetch_add(plain_bytes, std::memory_order_relaxed);
    }
    /// Takes note that the sum is there, `size_bytes` long. Errors: those of arrived().
    Status summed(std::uint64_t number, std::size_t size_bytes);

    /// Takes note that the peer is no longer reached; if it is the rank itself, its sums have
    /// ended.
    void lose(std::uint32_t peer, NicPeerState state);
    void says_sleeps(bool sleeps);
    void beats();

  private:
    Status post(const NicEntry& entry);
    Status consume(const NicEntry& entry);
    Result<bool> copy(std::uint32_t peer, std::uint64_t number, std::span<std::byte> to) const;

    std::uint32_t rank_;
    SharedRegion region_;
    RankMemory memory_;
    NicRingReader entries_;
    NicRingWriter arrivals_;
    std::vector<Pair> pairs_;
};

/// LocalMembers are the ranks of a group that are here, and who is where.
struct LocalMembers {
    NicRoster roster;
    std::uint32_t host = 0;
    std::vector<std::shared_ptr<NicMember>>
        by_rank;                      ///< one per rank; null: elsewhere, or not here yet, or gone
    std::vector<std::uint32_t> here;  ///< ranks with a member
    std::vector<bool> gone;           ///< one per rank: it has left another host

    NicMember* find(std::uint32_t rank) const {
        return rank < by_rank.size() ? by_rank[rank].get() : nullptr;
    }
};

}  // namespace gradcoll
