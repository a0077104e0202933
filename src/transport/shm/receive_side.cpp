#include "transport/shm/receive_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// This much is read between two looks at everything else.
constexpr std::size_t read_piece_bytes = 512 * 1024;

/// Returns whether the sender waits for an answer. The send of an announced message that left whole
/// has ended already. An empty one is announced without cells when too many inlined ones are
/// unmatched, so its sender learns of its end from us.
bool waits_for_answer(const MessageNote& note) {
    return note.size_bytes == 0 || note.run_bytes != note.size_bytes;
}

}  // namespace

ReceiveSide::ReceiveSide(const ShmLayout& layout, std::vector<PairWire>& wires,
                         const PeerMemory& memory)
    : layout_(layout),
      wires_(wires),
      memory_(memory),
      may_read_(!memory.processes.empty()),
      early_(wires.size()),
      peers_(wires.size()) {}

bool ReceiveSide::is_busy(int peer) const {
    const Peer& state = peers_[static_cast<std::size_t>(peer)];
    return !state.posted.empty() || !state.met.empty() || !state.answers.empty();
}

void ReceiveSide::open(std::uint16_t group) {
    if (open_.size() <= group) open_.resize(std::size_t{group} + 1);
    open_[group] = true;
}

void ReceiveSide::close(std::uint16_t group) {
    open_[group] = false;
    for (int peer = 0; peer < layout_.rank_count(); ++peer)
        while (const auto early = early_.take_any(peer, group)) drop(peer, *early);
}

// A message and its receive meet: whichever of the two is there second finds the other. Both keep
// the order of their starts, so that messages of one pair, group and tag cannot overtake one
// another.

void ReceiveSide::start(const RecvRequest& request, std::uint16_t group) {
    const std::uint32_t index = pool_.take();
    pool_[index].request = request;
    pool_[index].group = group;
    const auto early = early_.take(request.peer, group, request.tag);
    if (early)
        meet(index, *early);
    else
        pool_.push_back(of(request.peer).posted, index);
}

void ReceiveSide::on_message(int peer, const RecordBody& body) {
    if (!is_open(body.group)) return drop(peer, body);
    const std::uint32_t index = pool_.remove_first(of(peer).posted, [&](const Incoming& receive) {
        return receive.group == body.group && receive.request.tag == body.tag;
    });
    if (index != no_entry)
        meet(index, body);
    else
        early_.keep(peer, body);
}

/// Drops a message, and tells its sender whatever it waits for.
void ReceiveSide::drop(int peer, const RecordBody& body) {
    if (body.kind == RecordKind::inlined) return wire(peer).count_inlined_match();
    const MessageNote note = body.note();
    release_run(peer, note);
    if (waits_for_answer(note)) reply(peer, {RecordKind::done, note.sender_id, 0, no_entry});
}

void ReceiveSide::meet(std::uint32_t index, const RecordBody& body) {
    if (body.kind == RecordKind::inlined)
        meet_inlined(index, body);
    else
        meet_announced(index, body.note());
}

void ReceiveSide::on_record(int peer, const RecordBody& body) {
    if (!is_sound(peer, body)) return;
    if (body.kind == RecordKind::piece) return on_piece(peer, body.note());
    if (body.kind == RecordKind::retract) return on_retract(peer, body.note());
    on_message(peer, body);
}

/// Checks that lengths and places are inside what there is: the peer's memory is not trusted, and
/// everything behind this function computes addresses with them.
bool ReceiveSide::is_sound(int peer, const RecordBody& body) {
    if (body.kind == RecordKind::inlined) {
        if (body.inline_bytes <= RecordBody::inline_limit && body.tag >= 0) return true;
        wire(peer).fail(
            fmt::format("sent {} bytes with tag {} in a record", body.inline_bytes, body.tag));
        return false;
    }
    const MessageNote note = body.note();
    const std::size_t room = note.first_cell < ShmLayout::cell_count
                                 ? layout_.cell_bytes() * (ShmLayout::cell_count - note.first_cell)
                                 : 0;
    if (note.run_bytes <= room && note.run_bytes <= note.size_bytes && body.tag >= 0) return true;
    wire(peer).fail(fmt::format("sent {} of {} bytes from cell {} with tag {}", note.run_bytes,
                                note.size_bytes, note.first_cell, body.tag));
    return false;
}

// 1. The bytes are in the record.

void ReceiveSide::meet_inlined(std::uint32_t index, const RecordBody& body) {
    Incoming& receive = pool_[index];
    const RecvRequest& request = receive.request;
    // It is counted when met, not when taken: messages nobody receives must not fill this rank's
    // memory.
    wire(request.peer).count_inlined_match();
    const std::size_t size = body.inline_bytes;
    if (size > request.size_bytes)
        receive.outcome = too_long_for(request, size);
    else if (size > 0)
        std::memcpy(request.data, body.payload.data(), size);
    receive.got_bytes = size;
    finish(index);
}

// 2 and 3. The message was announced, with all of its bytes in cells, some or none.

void ReceiveSide::meet_announced(std::uint32_t index, const MessageNote& note) {
    Incoming& receive = pool_[index];
    const RecvRequest& request = receive.request;
    receive.note = note;
    const bool sender_waits = waits_for_answer(note);
    if (note.size_bytes > request.size_bytes) {
        receive.outcome = too_long_for(request, note.size_bytes);
        release_run(request.peer, note);
        return end(index, sender_waits);
    }
    take_run(receive, note);
    if (note.run_bytes == note.size_bytes) return end(index, sender_waits);
    receive.reads = may_read_ && note.address != 0 && note.run_bytes == 0;
    pool_.push_back(of(request.peer).met, index);
    if (!receive.reads) pull(index);
}

void ReceiveSide::take_run(Incoming& receive, const MessageNote& note) {
    const RecvRequest& request = receive.request;
    if (note.run_bytes == 0) return;
    copy_bytes(request.data + receive.got_bytes,
               layout_.cell(request.peer, static_cast<int>(note.first_cell)), note.run_bytes);
    receive.got_bytes += note.run_bytes;
    copied_bytes_ += note.run_bytes;
    release_run(request.peer, note);
}

/// Gives the peer its cells back, wanted or not: it would run out of them otherwise.
void ReceiveSide::release_run(int peer, const MessageNote& note) {
    if (note.run_bytes > 0) wire(peer).release(note.first_cell);
}

void ReceiveSide::on_piece(int peer, const MessageNote& note) {
    using Known = EntryPool<Incoming>::Known;
    std::uint32_t index = no_entry;
    const Known known = pool_.look_up(note.receiver_id, index);
    // The receive was abandoned while the piece was under way.
    if (known == Known::past) return release_run(peer, note);
    if (known == Known::never || !was_pulled(peer, index, note))
        return wire(peer).fail(
            fmt::format("sent {} bytes of a message that nobody asked for", note.run_bytes));
    Incoming& receive = pool_[index];
    take_run(receive, note);
    if (receive.got_bytes < receive.note.size_bytes) return;
    pool_.remove(of(peer).met, index);
    finish(index);
}

/// Returns whether these bytes belong to the message that the receive met, and are still missing.
bool ReceiveSide::was_pulled(int peer, std::uint32_t index, const MessageNote& note) {
    const Incoming& receive = pool_[index];
    return receive.request.peer == peer && receive.note.sender_id == note.sender_id &&
           !receive.reads && receive.outcome.ok() && note.run_bytes > 0 &&
           note.run_bytes <= receive.note.size_bytes - receive.got_bytes;
}

// 4. The message is read where it lies in the sender's memory.

/// Reads a piece of the oldest message that is read. One that is long must not keep everything else
/// of this rank waiting.
void ReceiveSide::read_some(int peer) {
    std::uint32_t index = of(peer).met.first;
    while (index != no_entry && !pool_[index].reads) index = pool_[index].next;
    if (index == no_entry) return;
    Incoming& receive = pool_[index];
    const bool was_read = read_piece(receive);
    if (was_read && receive.got_bytes < receive.note.size_bytes) return;
    if (!was_read || gave_up_since(receive)) {
        receive.reads = false;
        receive.got_bytes = 0;  // what was read of it may be wrong already
        return pull(index);
    }
    pool_.remove(of(peer).met, index);
    end(index, true);
}

/// Returns false if the sender must send instead.
bool ReceiveSide::read_piece(Incoming& receive) {
    if (!may_read_) return false;
    const RecvRequest& request = receive.request;
    const std::size_t wanted =
        std::min<std::size_t>(receive.note.size_bytes - receive.got_bytes, read_piece_bytes);
    const ssize_t count = memory_.read(memory_.processes[static_cast<std::size_t>(request.peer)],
                                       receive.note.address + receive.got_bytes,
                                       request.data + receive.got_bytes, wanted);
    // The system does not permit it (any more): no other read of any peer would succeed.
    if (count == -EPERM || count == -ENOSYS || count == -EACCES) may_read_ = false;
    if (count <= 0) return false;
    receive.got_bytes += static_cast<std::size_t>(count);
    copied_bytes_ += static_cast<std::size_t>(count);
    return true;
}

/// Returns whether the sender gave up some message, perhaps this one, and may have changed its
/// bytes while they were read: it raises its epoch before it lets go of a buffer (6). If it was
/// another message, asking for pieces costs time and nothing else.
bool ReceiveSide::gave_up_since(const Incoming& receive) const {
    // The reads above come before the look at the epoch.
    std::atomic_thread_fence(std::memory_order_acquire);
    return layout_.header(receive.request.peer).epoch.load(std::memory_order_acquire) !=
           receive.note.epoch;
}

// 3 and 5. The sender is told. 5: a receive ends only when the answer is in the outbox, for its
// rank may not poll any more afterwards, and the sender would wait for ever.

void ReceiveSide::pull(std::uint32_t index) {
    const Incoming& receive = pool_[index];
    reply(receive.request.peer, {RecordKind::pull, receive.note.sender_id, receive.id, no_entry});
}

/// Ends a receive: all bytes are here, or none is wanted. The receive is in no list any more.
void ReceiveSide::end(std::uint32_t index, bool sender_waits) {
    if (!sender_waits) return finish(index);
    const Incoming& receive = pool_[index];
    reply(receive.request.peer, {RecordKind::done, receive.note.sender_id, receive.id, index});
}

void ReceiveSide::reply(int peer, const Answer& answer) {
    of(peer).answers.push_back(answer);
    send_answers(peer);
}

void ReceiveSide::send_answers(int peer) {
    std::vector<Answer>& answers = of(peer).answers;
    std::size_t sent = 0;
    for (; sent < answers.size() && wire(peer).has_room(); ++sent) {
        const Answer& answer = answers[sent];
        MessageNote note;
        note.sender_id = answer.sender_id;
        note.receiver_id = answer.receiver_id;
        wire(peer).push(RecordBody::of(answer.kind, 0, note));
        if (answer.ends != no_entry) finish(answer.ends);
    }
    answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(sent));
}

void ReceiveSide::progress(int peer) {
    send_answers(peer);
    read_some(peer);
}

Status ReceiveSide::too_long_for(const RecvRequest& request, std::size_t arrived_bytes) {
    return too_long(wire(request.peer).peer_name(), request.tag, request.size_bytes, arrived_bytes);
}

void ReceiveSide::finish(std::uint32_t index) {
    Incoming& receive = pool_[index];
    const std::size_t bytes = receive.outcome.ok() ? receive.got_bytes : 0;
    receive.request.lane->add({receive.request.cookie, bytes, std::move(receive.outcome)});
    pool_.give_back(index);
}

// 6. One side gives up.

/// Handles a sender that gives up. An announcement that no receive has met is forgotten, and
/// another receive may take its place; one that was met cannot get the rest of its bytes any more.
void ReceiveSide::on_retract(int peer, const MessageNote& note) {
    const auto early = early_.take_announced(peer, note.sender_id);
    if (early) return release_run(peer, early->note());
    const auto is_meant = [&](const auto& it) { return it.sender_id == note.sender_id; };
    Peer& state = of(peer);
    const std::uint32_t index = pool_.remove_first(
        state.met, [&](const Incoming& receive) { return is_meant(receive.note); });
    if (index == no_entry) return;  // its last answer and the retraction passed each other
    std::erase_if(state.answers, is_meant);
    pool_[index].outcome =
        Status(Code::transport, fmt::format("message from rank {} with tag {}: its sender gave up",
                                            wire(peer).peer_name(), pool_[index].request.tag));
    finish(index);
}

/// Handles a lane of this rank that gives up: none of its buffers is written any more. Senders
/// whose messages were met are told that nothing more is wanted; what is under way of them is
/// dropped by its old id.
void ReceiveSide::abandon(const FinishedMessages& lane) {
    const auto belongs = [&](const Incoming& receive) { return receive.request.lane == &lane; };
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
        Peer& state = peers_[peer];
        pool_.remove_all(state.posted, belongs, [&](std::uint32_t at) { pool_.give_back(at); });
        pool_.remove_all(state.met, belongs, [&](std::uint32_t at) {
            const Incoming& receive = pool_[at];
            std::erase_if(state.answers,
                          [&](const Answer& answer) { return answer.receiver_id == receive.id; });
            state.answers.push_back(
                {RecordKind::done, receive.note.sender_id, receive.id, no_entry});
            pool_.give_back(at);
        });
        for (Answer& answer : state.answers) {
            if (answer.ends == no_entry || !belongs(pool_[answer.ends])) continue;
            pool_.give_back(answer.ends);
            answer.ends = no_entry;
        }
        send_answers(static_cast<int>(peer));
    }
}

}  // namespace gradcoll
