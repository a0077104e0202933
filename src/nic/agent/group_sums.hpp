// nic/agent/group_sums.hpp - vectors that the agents of a group add: all ranks of a host hand
// theirs in, one sum leaves the host, and comes back with those of the others in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nic/agent/member.hpp"
#include "nic/agent/status.hpp"
#include "nic/coded_frame.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// SumBytes are shared with links that have yet to send them; null if there are none.
using SumBytes = std::shared_ptr<const std::vector<std::byte>>;

/// GroupSums adds a vector in pieces, each a frame of every rank to itself. Ranks number them
/// alike, so a number is the same piece everywhere. The i-th piece of a vector belongs to host i %
/// hosts (so the same vectors have the same sum, whatever went before):
///
/// 1. each host adds what its ranks have there, in the order of ranks, and sends that to the owner
///    (`part`), encoded if the ranks say so;
/// 2. the owner adds those of all hosts, its own as it is, in the order of hosts, encodes the sum,
///    and sends it to all (`total`);
/// 3. every host decodes it into the memory of its ranks, the owner likewise: all have the same
/// bits.
///
/// Nobody hands in a piece before it has the sum of the one `slots` before, which bounds what is
/// under way. If something is wrong, the sums of the group end for all ranks, and only they: ranks
/// have what it takes to go on by themselves (nic/transport/nic_sums.hpp).
class GroupSums {
  public:
    /// The references have to be valid as long as the sums.
    struct Around {
        LocalMembers& members;
        AgentCounters& counters;
    };
    using Send = std::function<void(std::uint32_t host, const LinkFrame& frame, SumBytes bytes)>;

    /// SpareTime says for how many nanoseconds the wire to a host has enough to do.
    using SpareTime = std::function<std::uint64_t(std::uint32_t host)>;

    GroupSums(const Around& around, Send send, SpareTime spare_ns);

    /// Adds a piece that all ranks here have handed in. Returns whether there is another: what was
    /// made of this one should leave before.
    bool work();
    /// Takes a frame of another host's agent, which has been checked but for its number. Errors:
    /// corrupt, if that agent breaks the rules.
    Status take(const LinkFrame& frame, std::span<const std::byte> bytes);
    /// Is called before the rank leaves.
    void rank_leaves(std::uint32_t rank);
    /// Ends sums for the ranks here, and tells those of other hosts.
    void end(const std::string& why);
    bool has_ended() const { return has_ended_; }

  private:
    /// Terms says what is to be added, as ranks and hosts say of a piece.
    struct Terms {
        NicNote note;
        NicCoding coding = NicCoding::none;
        bool operator==(const Terms& other) const;
    };
    struct Part {
        Terms terms;
        SumBytes bytes;  ///< plain for the owner's own part; others as they travel
    };
    struct Piece {
        std::vector<Part> parts;  ///< one per host; only where this host is the owner
        std::size_t parts_there = 0;
        SumBytes total;  ///< sum as it travels
    };
    using Buffer = std::shared_ptr<std::vector<std::byte>>;

    std::uint32_t hosts() const;
    std::uint32_t owner_of(const NicNote& note) const {
        return static_cast<std::uint32_t>(note.id % hosts());
    }
    Piece& piece(std::uint64_t number) { return pieces_[number % pieces_.size()]; }
    void prepare();
    std::optional<std::uint64_t> handed_in_by_all() const;
    Status make_part(std::uint64_t number);
    Status add_ranks(std::uint64_t number, Terms& terms);
    Status take_part(const LinkFrame& frame, std::span<const std::byte> bytes);
    Status take_total(const LinkFrame& frame, std::span<const std::byte> bytes);
    Status add_hosts(std::uint64_t number);
    Result<std::span<const std::byte>> plain_of(const Part& part, bool is_own);
    Result<SumBytes> encoded(const Terms& terms, std::uint64_t spare_ns);
    std::uint64_t least_spare_ns() const;
    Status hand_out();
    Result<std::size_t> decode_total(const Terms& terms, const SumBytes& total, std::byte* room);
    Buffer buffer();
    SumBytes copy_of(std::span<const std::byte> bytes);
    void send(FrameKind kind, std::uint32_t host, std::uint64_t number, const Terms& terms,
              const SumBytes& bytes);

    Around around_;
    Send send_;
    SpareTime spare_ns_;
    bool has_ended_ = false;
    std::vector<std::uint32_t> ranks_;  ///< ranks of this host, ascending
    std::size_t slots_ = 0;
    std::size_t slot_bytes_ = 0;
    std::uint64_t added_ = 0;     ///< number of pieces of which this host has made its part
    std::uint64_t summed_ = 0;    ///< number of pieces whose sums the ranks here have
    std::vector<Piece> pieces_;   ///< one per number modulo their count
    std::vector<std::byte> sum_;  ///< sum of one piece, in its plain form
    std::vector<std::byte> room_;
    std::vector<Buffer> buffers_;  ///< used again when nobody else holds them
    FrameCoder coder_;
};

}  // namespace gradcoll
