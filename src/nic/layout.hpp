// nic/layout.hpp - what lies where in the memory that a rank shares with the NIC agent of its host.
// Every word has one writer, but for the one that says that the agent sleeps. Neither side believes
// the other's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace gradcoll {

/// NicNote says what a frame is to the ranks at its ends. The agents carry it as it is.
struct NicNote {
    std::uint32_t kind = 0;
    std::int32_t tag = 0;
    std::uint64_t id = 0;
    std::uint64_t other_id = 0;
    std::uint64_t size_bytes = 0;
};
static_assert(sizeof(NicNote) == 32);

/// NicCoding says how the bytes of a frame travel. Both ranks have the plain form of a coded one,
/// and only what is between the agents is coded (nic/coded_frame.hpp).
enum class NicCoding : std::uint8_t {
    none = 0,  ///< bytes as they are
    plain,     ///< encoded
    zstd,      ///< encoded, and packed once more
    lz4
};
inline constexpr unsigned nic_coding_count = 4;

enum class NicEntryKind : std::uint32_t {
    frame = 1,  ///< there is one in its slot
    consumed    ///< from the rank: all frames of the peer up to `number` have been read
};

/// NicEntry is one entry of a ring.
struct NicEntry {
    NicEntryKind kind = NicEntryKind::frame;
    std::uint32_t peer = 0;  ///< a rank of the group
    std::uint64_t number =
        0;  ///< number of the frame among those of its pair and direction, from 1
    std::uint64_t size_bytes = 0;  ///< size of the frame
    NicNote note;
    NicCoding coding = NicCoding::none;  ///< the agent's entries say only none, or not
    /// If this is 1, the rank wants to have what decoding gives of a coded frame in the frame's
    /// echo slot before it hears that the frame is delivered.
    std::uint8_t echo = 0;
    /// If this is not 0, the slot has the header of the plain form alone, and behind it so many
    /// NicRuns, which say where in the rank's memory the elements are (nic/rank_memory.hpp).
    std::uint8_t runs = 0;
    std::array<std::uint8_t, 5> unused{};
};
static_assert(sizeof(NicEntry) == 64);

/// NicRun is a part of a rank's memory.
struct NicRun {
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0;
};
inline constexpr std::size_t most_nic_runs = 4;

using NicCounter = std::atomic<std::uint64_t>;
static_assert(NicCounter::is_always_lock_free);

/// NicRingWords are the two counters of a ring, each on a line of its own.
struct NicRingWords {
    alignas(64) NicCounter written{0};  ///< entries, by the writer
    alignas(64) NicCounter read{0};     ///< entries, by the reader
};

/// NicPeerState says whether a peer can be reached. It only ever goes on.
enum class NicPeerState : std::uint64_t {
    reached = 0,
    left,  ///< it has ended what it had with its agent
    lost   ///< its agent, or the way there
};

/// NicPeerWords are what the agent tells of one peer.
struct alignas(64) NicPeerWords {
    NicCounter delivered{0};  ///< frames to the peer that are in the memory that it shares
    NicCounter state{0};      ///< a NicPeerState
    /// This counts the bytes of coded frames to the peer, as they travelled, headers of the link
    /// left out; they are counted before they are delivered.
    NicCounter coded_bytes{0};
    /// On the line of the rank itself both counters are of vectors that agents add: what left the
    /// host, as it travelled and before that. One rank of a host has them.
    NicCounter summed_bytes{0};
};

/// An agent that has ranks shows that it works once in nic_beat. Ranks, and agents of other hosts,
/// do without one that does not for nic_silence.
inline constexpr std::chrono::milliseconds nic_beat{500};
inline constexpr std::chrono::milliseconds nic_silence{5000};

/// NicAgentWords are what the agent tells of itself.
struct alignas(64) NicAgentWords {
    /// If this is not 0, the agent waits for its event, or is about to. Whoever wakes it makes it
    /// 0.
    std::atomic<std::uint32_t> sleeps{0};
    /// Counts what may let the rank go on; ranks sleep on it (nic/shared_region.hpp).
    std::atomic<std::uint32_t> news{0};
    NicCounter beats{0};
};

/// NicRankWords are what the rank tells of itself.
struct alignas(64) NicRankWords {
    /// This counts threads that sleep on the agent's news, or are about to.
    std::atomic<std::uint32_t> sleepers{0};
};

/// NicOwnWords are what the rank tells of one peer.
struct alignas(64) NicOwnWords {
    /// If this is not 0, the rank sends frames to the peer another way, and its elements in runs
    /// are no longer what they were.
    std::atomic<std::uint32_t> withdrawn{0};
};

/// NicShape says how much there is of everything: the same for all ranks of a group.
struct NicShape {
    std::uint32_t ranks = 0;
    std::uint32_t slots = 0;  ///< frames under way in a pair and direction
    std::uint32_t slot_bytes = 0;

    /// Returns a shape with fewer and smaller slots where there are many ranks. Pure.
    static NicShape of(std::uint32_t ranks);
    /// Checks a shape that another process says. Errors: corrupt.
    Status check() const;
    bool operator==(const NicShape&) const = default;
};

/// NicSlots says which of a pair's slots are meant.
enum class NicSlots : std::uint8_t {
    leaving,  ///< frames of the rank
    coming,   ///< frames for the rank
    echoed    ///< what decoding gives of frames of the rank (NicEntry::echo)
};
inline constexpr std::size_t nic_slots_count = 3;

/// NicLayout has the offsets: NicAgentWords; NicRankWords; NicPeerWords by rank; NicOwnWords by
/// rank; a ring to the agent; a ring to the rank; the slots, one kind after another, each by peer.
/// Memory is zeros at first, and most of it is never touched: only peers that a rank talks to have
/// any.
class NicLayout {
  public:
    NicLayout() = default;
    NicLayout(std::byte* memory, const NicShape& shape);
    static std::size_t size_bytes(const NicShape& shape);

    const NicShape& shape() const { return shape_; }
    std::uint64_t ring_capacity() const { return ring_capacity_; }

    NicAgentWords& agent() const { return *reinterpret_cast<NicAgentWords*>(memory_); }
    NicRankWords& rank() const {
        return *reinterpret_cast<NicRankWords*>(memory_ + sizeof(NicAgentWords));
    }
    NicPeerWords& peer(std::uint32_t rank) const;
    NicOwnWords& own(std::uint32_t rank) const;
    NicRingWords& ring_words(bool to_agent) const;
    NicEntry* ring_entries(bool to_agent) const;
    /// Returns the slot of frame `number` to or from the peer.
    std::byte* slot(NicSlots which, std::uint32_t peer, std::uint64_t number) const;

  private:
    std::byte* memory_ = nullptr;
    NicShape shape_;
    std::uint64_t ring_capacity_ = 0;
};

}  // namespace gradcoll
