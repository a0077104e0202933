#include "transport/shm/send_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// A message of up to this many cells leaves whole, asked for or not.
constexpr int whole_cells = 8;
/// Larger messages go in pieces of this many cells, small enough that their reader finds them in
/// the caches.
constexpr int piece_cells = 4;
/// Longer runs go past the caches: their reader would have to fetch them out of ours.
constexpr std::size_t streamed_bytes = std::size_t{64} << 10;
/// This many messages in records may have met no receive. More are announced: their bytes wait
/// here, not in the peer's memory.
constexpr std::uint64_t most_inlined_unmatched = 64;

}  // namespace

SendSide::SendSide(const ShmLayout& layout, int rank, std::vector<PairWire>& wires,
                   const PeerMemory& memory)
    : layout_(layout), rank_(rank), wires_(wires), memory_(memory), peers_(wires.size()) {}

bool SendSide::is_busy(int peer) const {
    const Peer& state = peers_[static_cast<std::size_t>(peer)];
    return state.runs_held > 0 || !state.announced.empty() || !state.streaming.empty() ||
           !state.waiting.empty() || !state.retracts.empty();
}

void SendSide::start(const SendRequest& request, std::uint16_t group) {
    const std::uint32_t index = pool_.take();
    pool_[index].request = request;
    pool_[index].group = group;
    Peer& peer = of(request.peer);
    // It lines up behind those that wait: messages of one pair and tag must not overtake one
    // another.
    if (peer.waiting.empty() && wire(request.peer).has_room())
        send_first(index);
    else
        pool_.push_back(peer.waiting, index);
}

/// Does first what frees room for others (released cells, messages given up), then what somebody
/// waits for, then what nobody has asked for yet.
void SendSide::progress(int peer) {
    if (of(peer).runs_held > 0) free_cells(peer);
    send_retracts(peer);
    EntryList& streaming = of(peer).streaming;
    while (!streaming.empty() && send_piece(streaming.first)) {
    }
    EntryList& waiting = of(peer).waiting;
    while (!waiting.empty() && wire(peer).has_room()) send_first(pool_.pop_front(waiting));
}

/// Sends the first record of a message, for which there must be room.
void SendSide::send_first(std::uint32_t index) {
    PairWire& to = wire(pool_[index].request.peer);
    if (pool_[index].request.size_bytes <= RecordBody::inline_limit &&
        to.inlined_unmatched() < most_inlined_unmatched)
        send_inlined(index);
    else
        announce(index);
}

// 1. The bytes are in the record, and the message has ended.

void SendSide::send_inlined(std::uint32_t index) {
    const SendRequest& request = pool_[index].request;
    RecordBody body;
    body.kind = RecordKind::inlined;
    body.group = pool_[index].group;
    body.tag = request.tag;
    body.inline_bytes = static_cast<std::uint8_t>(request.size_bytes);
    if (request.size_bytes > 0) std::memcpy(body.payload.data(), request.data, request.size_bytes);
    wire(request.peer).push(body);
    wire(request.peer).count_inlined_push();
    finish(index);
}

// 2 and 4. The message is announced: with its address, or with what cells take of its bytes.

void SendSide::announce(std::uint32_t index) {
    Outgoing& message = pool_[index];
    const SendRequest& request = message.request;
    MessageNote note;
    note.sender_id = message.id;
    note.size_bytes = request.size_bytes;
    // A peer that asked for pieces of what it might have read is taken for one that cannot read.
    message.offered = of(request.peer).reads && memory_.serves(request.size_bytes);
    if (message.offered) {
        note.address = reinterpret_cast<std::uintptr_t>(request.data);
        note.epoch = layout_.header(rank_).epoch.load(std::memory_order_relaxed);
    } else if (request.size_bytes > 0) {
        send_along(note, message);
    }
    RecordBody body = RecordBody::of(RecordKind::announce, request.tag, note);
    body.group = message.group;
    wire(request.peer).push(body);
    const bool left_whole = note.run_bytes > 0 && message.sent_bytes == request.size_bytes;
    if (left_whole)
        finish(index);
    else
        pool_.push_back(of(request.peer).announced, index);
}

/// Sends all bytes along, or the first ones of a longer message. Where cells are short none go
/// along: they are worth more to messages that somebody waits for, and the peer will ask.
void SendSide::send_along(MessageNote& note, Outgoing& message) {
    const SendRequest& request = message.request;
    const bool whole = request.size_bytes <= layout_.cell_bytes() * whole_cells;
    const int count = whole ? cells_for(request.size_bytes) : piece_cells;
    if (const auto run = cells_.take(count, request.peer, CellPool::Purpose::unasked))
        fill(note, message, *run);
}

// 3. The peer has asked: the rest leaves in pieces, as cells come free.

/// Returns true if there was room; the message may have ended.
bool SendSide::send_piece(std::uint32_t index) {
    Outgoing& message = pool_[index];
    const SendRequest& request = message.request;
    PairWire& to = wire(request.peer);
    if (!to.has_room()) return false;
    const int wanted = std::min(piece_cells, cells_for(request.size_bytes - message.sent_bytes));
    const auto run = cells_.take_up_to(wanted, request.peer, CellPool::Purpose::asked);
    if (!run) return false;
    MessageNote note;
    note.sender_id = message.id;
    note.receiver_id = message.receiver_id;
    note.size_bytes = request.size_bytes;
    fill(note, message, *run);
    to.push(RecordBody::of(RecordKind::piece, request.tag, note));
    if (message.sent_bytes == request.size_bytes) {
        pool_.remove(of(request.peer).streaming, index);
        finish(index);
    }
    return true;
}

/// Copies as much as fits behind what was sent before.
void SendSide::fill(MessageNote& note, Outgoing& message, const CellPool::Run& run) {
    const SendRequest& request = message.request;
    const std::size_t room = layout_.cell_bytes() * static_cast<std::size_t>(run.count);
    note.run_bytes = std::min(request.size_bytes - message.sent_bytes, room);
    note.first_cell = run.first;
    std::byte* cells = layout_.cell(rank_, static_cast<int>(run.first));
    const std::byte* bytes = request.data + message.sent_bytes;
    if (note.run_bytes >= streamed_bytes)
        copy_streaming(cells, bytes, note.run_bytes);
    else
        copy_bytes(cells, bytes, note.run_bytes);
    message.sent_bytes += note.run_bytes;
    ++of(request.peer).runs_held;
}

/// Returns the number of cells, at most one more than there are.
int SendSide::cells_for(std::size_t bytes) const {
    const std::size_t cells = (bytes + layout_.cell_bytes() - 1) / layout_.cell_bytes();
    return static_cast<int>(std::min<std::size_t>(cells, ShmLayout::cell_count + 1));
}

/// Frees the runs that the peer says it has read; it may name some that it never had.
void SendSide::free_cells(int peer) {
    for (std::uint64_t bits = wire(peer).newly_released(); bits != 0; bits &= bits - 1) {
        const auto cell = static_cast<std::uint32_t>(std::countr_zero(bits));
        if (!cells_.give_back(cell, peer))
            return wire(peer).fail(fmt::format("gave back cell {}, which it does not have", cell));
        --of(peer).runs_held;
    }
}

// 3 and 5. The peer answers an announcement.

/// Takes the message that the peer means out of its list and returns which list that was; null for
/// a message that has ended: it was given up while the answer was under way.
EntryList* SendSide::take_answered(int peer, const MessageNote& note, std::uint32_t& index) {
    using Known = EntryPool<Outgoing>::Known;
    const Known known = pool_.look_up(note.sender_id, index);
    if (known == Known::past) return nullptr;
    if (known == Known::never || pool_[index].request.peer != peer) {
        wire(peer).fail(fmt::format("answers a message {:#x} that was never sent", note.sender_id));
        return nullptr;
    }
    for (EntryList* list : {&of(peer).announced, &of(peer).streaming})
        if (pool_.remove(*list, index) == index) return list;
    wire(peer).fail("answers a message that was not announced");
    return nullptr;
}

void SendSide::on_pull(int peer, const MessageNote& note) {
    std::uint32_t index = no_entry;
    const EntryList* list = take_answered(peer, note, index);
    if (!list) return;
    Outgoing& message = pool_[index];
    if (list != &of(peer).announced || message.request.size_bytes == 0)
        return wire(peer).fail("asks twice for a message, or for an empty one");
    if (message.offered) of(peer).reads = false;  // it could not read it
    message.receiver_id = note.receiver_id;
    pool_.push_back(of(peer).streaming, index);
}

void SendSide::on_done(int peer, const MessageNote& note) {
    std::uint32_t index = no_entry;
    if (take_answered(peer, note, index)) finish(index);
}

void SendSide::finish(std::uint32_t index) {
    const SendRequest& request = pool_[index].request;
    request.lane->add({request.cookie, 0, {}});
    pool_.give_back(index);
}

// 6. A lane of this rank gives its messages up.

void SendSide::send_retracts(int peer) {
    std::vector<std::uint64_t>& ids = of(peer).retracts;
    while (!ids.empty() && wire(peer).has_room()) {
        MessageNote note;
        note.sender_id = ids.back();
        ids.pop_back();
        wire(peer).push(RecordBody::of(RecordKind::retract, 0, note));
    }
}

void SendSide::abandon(const FinishedMessages& lane) {
    // The epoch rises before the buffers change: whoever has read one of them looks at it
    // afterwards.
    layout_.header(rank_).epoch.fetch_add(1, std::memory_order_seq_cst);
    const auto belongs = [&](const Outgoing& message) { return message.request.lane == &lane; };
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
        Peer& state = peers_[peer];
        // The peer knows nothing of these.
        pool_.remove_all(state.waiting, belongs, [&](std::uint32_t at) { pool_.give_back(at); });
        for (EntryList* list : {&state.announced, &state.streaming})
            pool_.remove_all(*list, belongs, [&](std::uint32_t at) {
                state.retracts.push_back(pool_[at].id);
                pool_.give_back(at);
            });
        send_retracts(static_cast<int>(peer));
    }
}

}  // namespace gradcoll
