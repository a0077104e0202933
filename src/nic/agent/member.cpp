#include "nic/agent/member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/refusals.hpp"
#include "memory/copy.hpp"
#include "nic/coded_frame.hpp"
#include "nic/shared_region.hpp"

namespace gradcoll {
NicMember::NicMember(std::uint32_t rank, SharedRegion region, RankMemory memory)
    : rank_(rank),
      region_(std::move(region)),
      memory_(std::move(memory)),
      entries_(region_.layout(), NicWay::to_agent),
      arrivals_(region_.layout(), NicWay::to_rank),
      pairs_(region_.layout().shape().ranks) {
    for (Pair& pair : pairs_) pair.allowed = shape().slots;
}

Result<std::optional<NicMember::Taken>> NicMember::take_entry() {
    const std::optional<NicEntry> entry = GRADCOLL_VALUE(entries_.read());
    if (!entry) return std::optional<Taken>();
    const bool to_itself = entry->peer == rank_;
    if (entry->peer >= shape().ranks || (to_itself && entry->kind != NicEntryKind::frame))
        return corrupt("entry for rank {} of {}", entry->peer, shape().ranks);
    switch (entry->kind) {
        case NicEntryKind::frame:
            GRADCOLL_TRY(post(*entry));
            break;
        case NicEntryKind::consumed:
            GRADCOLL_TRY(consume(*entry));
            break;
        default:
            return corrupt("entry of kind {}", static_cast<std::uint32_t>(entry->kind));
    }
    return std::optional<Taken>(Taken{entry->peer, entry->kind});
}

Status NicMember::post(const NicEntry& entry) {
    Pair& pair = pairs_[entry.peer];
    if (entry.number != pair.posted + 1 || entry.number > pair.delivered + shape().slots ||
        entry.size_bytes > shape().slot_bytes ||
        static_cast<unsigned>(entry.coding) >= nic_coding_count || entry.echo > 1 ||
        (entry.echo == 1 && (entry.coding == NicCoding::none || entry.peer == rank_)) ||
        entry.runs > most_nic_runs ||
        (entry.runs > 0 &&
         (!memory_.is_there() || (entry.coding == NicCoding::none && entry.peer != rank_))))
        return corrupt("frame {} of {} bytes after {} of which {} are delivered", entry.number,
                       entry.size_bytes, pair.posted, pair.delivered);
    if (pair.waiting.empty()) pair.waiting.resize(shape().slots);
    pair.waiting[entry.number % shape().slots] = entry;
    ++pair.posted;
    // Who hands in a piece has room for its sum.
    if (entry.peer == rank_ && entry.number > shape().slots)
        pair.consumed = entry.number - shape().slots;
    return {};
}

Status NicMember::consume(const NicEntry& entry) {
    Pair& pair = pairs_[entry.peer];
    if (entry.number <= pair.consumed || entry.number > pair.received)
        return corrupt("{} frames read after {} of {}", entry.number, pair.consumed, pair.received);
    pair.consumed = entry.number;
    pair.tells_consumed = true;
    return {};
}

LinkFrame NicMember::next_frame(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    const NicEntry& entry = pair.waiting[++pair.sent % shape().slots];
    LinkFrame frame;
    frame.kind = FrameKind::data;
    frame.coding = entry.coding;
    frame.source = rank_;
    frame.target = peer;
    frame.number = entry.number;
    frame.size_bytes = static_cast<std::uint32_t>(entry.size_bytes);
    frame.note = entry.note;
    return frame;
}

std::span<const std::byte> NicMember::bytes_of(const LinkFrame& frame) const {
    return {region_.layout().slot(NicSlots::leaving, frame.target, frame.number), frame.size_bytes};
}

/// Reads runs before it asks whether the rank has withdrawn them: if it has not by then, nothing
/// has changed them. What the slot says is copied first, since the rank can change it.
Result<bool> NicMember::copy(std::uint32_t peer, std::uint64_t number,
                             std::span<std::byte> to) const {
    const NicEntry& entry = pairs_[peer].waiting[number % shape().slots];
    const std::byte* const slot = region_.layout().slot(NicSlots::leaving, peer, number);
    if (entry.runs == 0) {
        copy_bytes(to.data(), slot, to.size());
        return true;
    }
    const std::size_t header = plain_header_bytes(entry.coding);
    std::array<NicRun, most_nic_runs> room;
    std::memcpy(room.data(), slot + header, entry.runs * sizeof(NicRun));
    const std::span<const NicRun> runs(room.data(), entry.runs);
    std::size_t left = to.size() - std::min(header, to.size());
    for (const NicRun& run : runs) {
        if (run.size_bytes > left) return corrupt("runs of more than {} bytes", to.size());
        left -= run.size_bytes;
    }
    if (left > 0 || to.size() < header)
        return corrupt("runs of {} bytes less than {}", left, to.size());
    std::memcpy(to.data(), slot, header);
    GRADCOLL_TRY(memory_.read(runs, to.subspan(header)));
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return region_.layout().own(peer).withdrawn.load(std::memory_order_acquire) == 0;
}

bool NicMember::wants_echo(const LinkFrame& frame) const {
    return pairs_[frame.target].waiting[frame.number % shape().slots].echo == 1;
}

Result<std::span<std::byte>> NicMember::room_for_echo(const LinkFrame& frame) {
    Pair& pair = pairs_[frame.target];
    if (!pair.has_echo_room) GRADCOLL_TRY(region_.allocate_slots(NicSlots::echoed, frame.target));
    pair.has_echo_room = true;
    return std::span(region_.layout().slot(NicSlots::echoed, frame.target, frame.number),
                     std::size_t{shape().slot_bytes});
}

Result<std::byte*> NicMember::room_for(const LinkFrame& frame) {
    Pair& pair = pairs_[frame.source];
    if (frame.number != pair.received + 1 || frame.number > pair.consumed + shape().slots)
        return corrupt("frame {} after {} of which {} are read", frame.number, pair.received,
                       pair.consumed);
    if (!pair.has_room) GRADCOLL_TRY(region_.allocate_slots(NicSlots::coming, frame.source));
    pair.has_room = true;
    return region_.layout().slot(NicSlots::coming, frame.source, frame.number);
}

Status NicMember::arrived(const LinkFrame& frame, std::size_t size_bytes) {
    if (!arrivals_.has_room()) return corrupt("the ring of rank {} is full", rank_);
    Pair& pair = pairs_[frame.source];
    pair.received = frame.number;
    pair.tells_delivered = true;
    arrivals_.write({.kind = NicEntryKind::frame,
                     .peer = frame.source,
                     .number = frame.number,
                     .size_bytes = size_bytes,
                     .note = frame.note,
                     .coding = frame.coding});
    tell_news(region_.layout());
    return {};
}

Status NicMember::copy_piece(std::uint64_t number, std::span<std::byte> to) const {
    const bool is_there = GRADCOLL_VALUE(copy(rank_, number, to));
    if (is_there) return {};
    return {Code::peer_failed, fmt::format("rank {} has withdrawn its piece {}", rank_, number)};
}

std::span<const std::byte> NicMember::bytes_of_piece(std::uint64_t number) const {
    if (piece(number).runs > 0) return {};
    return {region_.layout().slot(NicSlots::leaving, rank_, number), piece(number).size_bytes};
}

Result<std::byte*> NicMember::room_for_sum(std::uint64_t number) {
    LinkFrame frame;
    frame.source = rank_;
    frame.number = number;
    return room_for(frame);
}

/// Takes note that the sum is there: the rank may use the slot of what it has handed in again.
Status NicMember::summed(std::uint64_t number, std::size_t size_bytes) {
    LinkFrame frame;
    frame.source = rank_;
    frame.number = number;
    frame.note = piece(number).note;
    frame.coding = piece(number).coding;
    pairs_[rank_].delivered = number;
    region_.layout().peer(rank_).delivered.store(number, std::memory_order_release);
    return arrived(frame, size_bytes);
}

Status NicMember::take_word(const LinkFrame& frame) {
    Pair& pair = pairs_[frame.source];
    if (frame.number > pair.sent)
        return corrupt("{} frames are there, of {}", frame.number, pair.sent);
    if (frame.kind == FrameKind::consumed) {
        if (frame.number + shape().slots < pair.allowed)
            return corrupt("{} frames are read, fewer than before", frame.number);
        pair.allowed = frame.number + shape().slots;
        return {};
    }
    if (frame.number < pair.delivered)
        return corrupt("{} frames are there, after {}", frame.number, pair.delivered);
    pair.delivered = frame.number;
    region_.layout().peer(frame.source).delivered.store(frame.number, std::memory_order_release);
    // A sender that waits for room, or for the end of its message, can do something with that.
    if (frame.number == pair.posted || frame.number - pair.told >= shape().slots / 2) {
        pair.told = frame.number;
        tell_news(region_.layout());
    }
    return {};
}

LinkFrame NicMember::word_for(std::uint32_t peer, FrameKind kind) const {
    const Pair& pair = pairs_[peer];
    LinkFrame frame;
    frame.kind = kind;
    frame.source = rank_;
    frame.target = peer;
    frame.number = kind == FrameKind::delivered ? pair.received : pair.consumed;
    return frame;
}

void NicMember::lose(std::uint32_t peer, NicPeerState state) {
    NicCounter& word = region_.layout().peer(peer).state;
    if (word.load(std::memory_order_relaxed) == static_cast<std::uint64_t>(NicPeerState::reached))
        word.store(static_cast<std::uint64_t>(state), std::memory_order_release);
    tell_news(region_.layout());
}

void NicMember::beats() {
    region_.layout().agent().beats.fetch_add(1, std::memory_order_relaxed);
}

void NicMember::says_sleeps(bool sleeps) {
    region_.layout().agent().sleeps.store(sleeps ? 1 : 0, std::memory_order_seq_cst);
}

}  // namespace gradcoll
