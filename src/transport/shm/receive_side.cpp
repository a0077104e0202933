#include "transport/shm/receive_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gradcoll {
namespace {

constexpr std::size_t unexpected_at_first = 256;
constexpr std::size_t most_unexpected = 16384;
/// Between two looks at everything else.
constexpr std::size_t read_piece_bytes = 512 * 1024;

}  // namespace

ReceiveSide::ReceiveSide(const ShmLayout& layout, std::vector<PairWire>& wires,
                         const PeerMemory& memory)
    : layout_(layout),
      wires_(wires),
      memory_(memory),
      may_read_(!memory.processes.empty()),
      peers_(wires.size()) {
    unexpected_.reserve(unexpected_at_first);
}

bool ReceiveSide::is_busy(int peer) const {
    const Peer& state = peers_[static_cast<std::size_t>(peer)];
    return !state.posted.empty() || !state.met.empty() || !state.answers.empty();
}

bool ReceiveSide::is_full(int peer) const {
    return peers_[static_cast<std::size_t>(peer)].unexpected_count >= most_unexpected;
}

void ReceiveSide::start(const RecvRequest& request) {
    const std::uint32_t index = pool_.take();
    pool_[index].request = request;
    Peer& peer = of(request.peer);
    const std::uint32_t early = unexpected_.remove_first(
        peer.unexpected,
        [&](const Unexpected& message) { return message.body.tag == request.tag; });
    if (early == no_entry) return pool_.push_back(peer.posted, index);
    const RecordBody body = unexpected_[early].body;
    unexpected_.give_back(early);
    --peer.unexpected_count;
    meet(index, body);
}

/// Lengths and places inside what there is.
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

void ReceiveSide::on_record(int peer, const RecordBody& body) {
    if (!is_sound(peer, body)) return;
    if (body.kind == RecordKind::piece) return on_piece(peer, body.note());
    if (body.kind == RecordKind::retract) return on_retract(peer, body.note());
    on_message(peer, body);
}

void ReceiveSide::on_message(int peer, const RecordBody& body) {
    Peer& state = of(peer);
    const std::uint32_t index = pool_.remove_first(
        state.posted, [&](const Incoming& receive) { return receive.request.tag == body.tag; });
    if (index != no_entry) return meet(index, body);
    const std::uint32_t kept = unexpected_.take();
    unexpected_[kept].body = body;
    unexpected_.push_back(state.unexpected, kept);
    ++state.unexpected_count;
}

void ReceiveSide::meet(std::uint32_t index, const RecordBody& body) {
    if (body.kind == RecordKind::inlined)
        meet_inlined(index, body);
    else
        meet_announced(index, body.note());
}

void ReceiveSide::meet_inlined(std::uint32_t index, const RecordBody& body) {
    Incoming& receive = pool_[index];
    const RecvRequest& request = receive.request;
    wire(request.peer).count_inlined_match();
    const std::size_t size = body.inline_bytes;
    if (size > request.size_bytes)
        receive.outcome =
            too_long(wire(request.peer).peer_name(), request.tag, request.size_bytes, size);
    else if (size > 0)
        std::memcpy(request.data, body.payload.data(), size);
    receive.got_bytes = size;
    finish(index);
}

void ReceiveSide::release_run(int peer, const MessageNote& note) {
    if (note.run_bytes > 0) wire(peer).release(note.first_cell);
}

void ReceiveSide::take_run(Incoming& receive, const MessageNote& note) {
    const RecvRequest& request = receive.request;
    if (note.run_bytes == 0) return;
    std::memcpy(request.data + receive.got_bytes,
                layout_.cell(request.peer, static_cast<int>(note.first_cell)), note.run_bytes);
    receive.got_bytes += note.run_bytes;
    copied_bytes_ += note.run_bytes;
    release_run(request.peer, note);
}

void ReceiveSide::meet_announced(std::uint32_t index, const MessageNote& note) {
    Incoming& receive = pool_[index];
    const RecvRequest& request = receive.request;
    receive.note = note;
    const bool all_here = note.run_bytes == note.size_bytes;
    const bool sender_waits = note.size_bytes == 0 || !all_here;
    if (note.size_bytes > request.size_bytes) {
        receive.outcome = too_long(wire(request.peer).peer_name(), request.tag, request.size_bytes,
                                   note.size_bytes);
        release_run(request.peer, note);
        return settle(index, sender_waits);
    }
    take_run(receive, note);
    if (all_here) return settle(index, sender_waits);
    receive.reads = may_read_ && note.address != 0 && note.run_bytes == 0;
    pool_.push_back(of(request.peer).met, index);
    if (!receive.reads) ask(index);
}

void ReceiveSide::ask(std::uint32_t index) {
    const Incoming& receive = pool_[index];
    of(receive.request.peer)
        .answers.push_back({RecordKind::pull, receive.note.sender_id, receive.id, no_entry});
    send_answers(receive.request.peer);
}

/// All bytes are here, or none is wanted. The receive is in no list any more.
void ReceiveSide::settle(std::uint32_t index, bool sender_waits) {
    if (!sender_waits) return finish(index);
    const Incoming& receive = pool_[index];
    of(receive.request.peer)
        .answers.push_back({RecordKind::done, receive.note.sender_id, receive.id, index});
    send_answers(receive.request.peer);
}

void ReceiveSide::finish(std::uint32_t index) {
    Incoming& receive = pool_[index];
    const std::size_t bytes = receive.outcome.ok() ? receive.got_bytes : 0;
    receive.request.lane->finish({receive.request.cookie, bytes, std::move(receive.outcome)});
    pool_.give_back(index);
}

void ReceiveSide::send_answers(int peer) {
    std::vector<Answer>& answers = of(peer).answers;
    std::size_t sent = 0;
    for (; sent < answers.size() && wire(peer).has_room(); ++sent) {
        const Answer& answer = answers[sent];
        MessageNote note;
        note.sender_id = answer.sender_id;
        note.receiver_id = answer.receiver_id;
        RecordBody body;
        body.kind = answer.kind;
        body.set_note(note);
        wire(peer).push(body);
        if (answer.ends != no_entry) finish(answer.ends);
    }
    answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(sent));
}

void ReceiveSide::on_piece(int peer, const MessageNote& note) {
    using Known = EntryPool<Incoming>::Known;
    std::uint32_t index = no_entry;
    const Known known = pool_.look_up(note.receiver_id, index);
    if (known == Known::past) return release_run(peer, note);
    if (known == Known::never || pool_[index].request.peer != peer ||
        pool_[index].note.sender_id != note.sender_id || pool_[index].reads ||
        note.run_bytes == 0 || !pool_[index].outcome.ok() ||
        note.run_bytes > pool_[index].note.size_bytes - pool_[index].got_bytes)
        return wire(peer).fail(
            fmt::format("sent {} bytes of a message that nobody asked for", note.run_bytes));
    Incoming& receive = pool_[index];
    take_run(receive, note);
    if (receive.got_bytes < receive.note.size_bytes) return;
    pool_.remove(of(peer).met, index);
    finish(index);
}

void ReceiveSide::on_retract(int peer, const MessageNote& note) {
    Peer& state = of(peer);
    const std::uint32_t early =
        unexpected_.remove_first(state.unexpected, [&](const Unexpected& message) {
            return message.body.kind == RecordKind::announce &&
                   message.body.note().sender_id == note.sender_id;
        });
    if (early != no_entry) {
        release_run(peer, unexpected_[early].body.note());
        unexpected_.give_back(early);
        --state.unexpected_count;
        return;
    }
    const std::uint32_t index = pool_.remove_first(state.met, [&](const Incoming& receive) {
        return receive.note.sender_id == note.sender_id;
    });
    if (index == no_entry) return;
    std::erase_if(state.answers,
                  [&](const Answer& answer) { return answer.sender_id == note.sender_id; });
    pool_[index].outcome =
        Status(Code::transport, fmt::format("message from rank {} with tag {}: its sender gave up",
                                            wire(peer).peer_name(), pool_[index].request.tag));
    finish(index);
}

void ReceiveSide::progress(int peer) {
    send_answers(peer);
    read_some(peer);
}

/// The sender gave up some message, perhaps this one, and may have changed it while it was read.
bool ReceiveSide::gave_up_since(const Incoming& receive) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return layout_.header(receive.request.peer).epoch.load(std::memory_order_acquire) !=
           receive.note.epoch;
}

/// The oldest message that is read is read first.
void ReceiveSide::read_some(int peer) {
    std::uint32_t index = of(peer).met.first;
    while (index != no_entry && !pool_[index].reads) index = pool_[index].next;
    if (index == no_entry) return;
    Incoming& receive = pool_[index];
    const bool was_read = read_piece(receive);
    if (was_read && receive.got_bytes < receive.note.size_bytes) return;
    if (!was_read || gave_up_since(receive)) {
        receive.reads = false;
        receive.got_bytes = 0;
        return ask(index);
    }
    pool_.remove(of(peer).met, index);
    settle(index, true);
}

/// False if the sender must send instead.
bool ReceiveSide::read_piece(Incoming& receive) {
    if (!may_read_) return false;
    const RecvRequest& request = receive.request;
    const std::size_t wanted =
        std::min<std::size_t>(receive.note.size_bytes - receive.got_bytes, read_piece_bytes);
    const ssize_t count = memory_.read(memory_.processes[static_cast<std::size_t>(request.peer)],
                                       receive.note.address + receive.got_bytes,
                                       request.data + receive.got_bytes, wanted);
    if (count == -EPERM || count == -ENOSYS || count == -EACCES) may_read_ = false;
    if (count <= 0) return false;
    receive.got_bytes += static_cast<std::size_t>(count);
    copied_bytes_ += static_cast<std::size_t>(count);
    return true;
}

void ReceiveSide::abandon(const ShmLane& lane) {
    const auto belongs = [&](const Incoming& receive) { return receive.request.lane == &lane; };
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
        Peer& state = peers_[peer];
        for (std::uint32_t at; (at = pool_.remove_first(state.posted, belongs)) != no_entry;)
            pool_.give_back(at);
        for (std::uint32_t at; (at = pool_.remove_first(state.met, belongs)) != no_entry;) {
            const std::uint64_t sender_id = pool_[at].note.sender_id;
            std::erase_if(state.answers,
                          [&](const Answer& answer) { return answer.receiver_id == pool_[at].id; });
            state.answers.push_back({RecordKind::done, sender_id, pool_[at].id, no_entry});
            pool_.give_back(at);
        }
        for (Answer& answer : state.answers) {
            if (answer.ends == no_entry || !belongs(pool_[answer.ends])) continue;
            pool_.give_back(answer.ends);
            answer.ends = no_entry;
        }
        send_answers(static_cast<int>(peer));
    }
}

}  // namespace gradcoll
