#include "nicd/member.hpp"

#include <fmt/format.h>

#include <utility>

#include "nic/news.hpp"

namespace gradcoll {
namespace {

template <class... Args>
Status wrong(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::corrupt, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace

NicMember::NicMember(std::uint32_t rank, SharedRegion region)
    : rank_(rank),
      region_(std::move(region)),
      entries_(region_.layout(), NicWay::to_agent),
      arrivals_(region_.layout(), NicWay::to_rank),
      pairs_(region_.layout().shape().ranks) {
    for (Pair& pair : pairs_) pair.allowed = shape().slots;
}

Result<std::optional<NicMember::Taken>> NicMember::take_entry() {
    const std::optional<NicEntry> entry = GRADCOLL_VALUE(entries_.read());
    if (!entry) return std::optional<Taken>();
    if (entry->peer >= shape().ranks || entry->peer == rank_)
        return wrong("entry for rank {} of {}", entry->peer, shape().ranks);
    switch (entry->kind) {
        case NicEntryKind::frame:
            GRADCOLL_TRY(post(*entry));
            break;
        case NicEntryKind::consumed:
            GRADCOLL_TRY(consume(*entry));
            break;
        default:
            return wrong("entry of kind {}", static_cast<std::uint32_t>(entry->kind));
    }
    return std::optional<Taken>(Taken{entry->peer, entry->kind});
}

Status NicMember::post(const NicEntry& entry) {
    Pair& pair = pairs_[entry.peer];
    if (entry.number != pair.posted + 1 || entry.number > pair.delivered + shape().slots ||
        entry.size_bytes > shape().slot_bytes ||
        static_cast<unsigned>(entry.coding) >= nic_coding_count)
        return wrong("frame {} of {} bytes after {} of which {} are delivered", entry.number,
                     entry.size_bytes, pair.posted, pair.delivered);
    if (pair.waiting.empty()) pair.waiting.resize(shape().slots);
    pair.waiting[entry.number % shape().slots] = entry;
    ++pair.posted;
    return {};
}

Status NicMember::consume(const NicEntry& entry) {
    Pair& pair = pairs_[entry.peer];
    if (entry.number <= pair.consumed || entry.number > pair.received)
        return wrong("{} frames read after {} of {}", entry.number, pair.consumed, pair.received);
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
    return {region_.layout().slot(true, frame.target, frame.number), frame.size_bytes};
}

Result<std::byte*> NicMember::room_for(const LinkFrame& frame) {
    Pair& pair = pairs_[frame.source];
    if (frame.number != pair.received + 1 || frame.number > pair.consumed + shape().slots)
        return wrong("frame {} after {} of which {} are read", frame.number, pair.received,
                     pair.consumed);
    if (!pair.has_room) GRADCOLL_TRY(region_.allocate_slots(false, frame.source));
    pair.has_room = true;
    return region_.layout().slot(false, frame.source, frame.number);
}

Status NicMember::arrived(const LinkFrame& frame, std::size_t size_bytes) {
    if (!arrivals_.has_room()) return wrong("the ring of rank {} is full", rank_);
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

Status NicMember::take_word(const LinkFrame& frame) {
    Pair& pair = pairs_[frame.source];
    if (frame.number > pair.sent)
        return wrong("{} frames are there, of {}", frame.number, pair.sent);
    if (frame.kind == FrameKind::consumed) {
        if (frame.number + shape().slots < pair.allowed)
            return wrong("{} frames are read, fewer than before", frame.number);
        pair.allowed = frame.number + shape().slots;
        return {};
    }
    if (frame.number < pair.delivered)
        return wrong("{} frames are there, after {}", frame.number, pair.delivered);
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
