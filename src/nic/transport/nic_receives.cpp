#include "nic/transport/nic_receives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compress/frame.hpp"
#include "memory/copy.hpp"

namespace gradcoll {
namespace {

std::uint32_t peer_of(const RecvRequest& request) {
    return static_cast<std::uint32_t>(request.peer);
}

/// Returns what a frame has of its message: the elements, if it was coded.
std::span<const std::byte> body_of(const ArrivedFrame& frame) {
    const std::span<const std::byte> bytes(frame.bytes, frame.size_bytes);
    if (frame.coding == NicCoding::none) return bytes;
    return bytes.subspan(std::min(bytes.size(), frame_header_bytes));
}

/// Returns ok if the frame is of the message that was asked for. A message that stands in the place
/// of another is shorter, and not coded.
Status check_coding(const RecvRequest& request, const ArrivedFrame& frame) {
    if (frame.coding != NicCoding::none && request.codec != nullptr)
        return elements_of_plain(*request.codec, {frame.bytes, frame.size_bytes}).status();
    const bool instead = frame.coding == NicCoding::none &&
                         (request.codec == nullptr || frame.note.size_bytes < request.size_bytes);
    return instead ? Status()
                   : Status(Code::transport,
                            fmt::format("message from rank {} with tag {}: one end lets it be "
                                        "encoded on its way, and the other does not",
                                        request.peer, request.tag));
}

}  // namespace

void NicReceives::start(const RecvRequest& request) {
    const std::uint32_t index = pool_.take();
    pool_[index].request = request;
    Peer& peer = of(peer_of(request));
    const std::uint32_t early = early_pool_.remove_first(
        peer.early, [&](const Early& kept) { return kept.note.tag == request.tag; });
    if (early == no_entry) return pool_.push_back(peer.posted, index);
    const std::vector<Kept> frames = std::move(early_pool_[early].frames);
    early_pool_.give_back(early);
    peer.early_count -= frames.size();
    begin(index, frames.front().frame());
    // The message may be refused at any frame.
    const std::uint64_t id = pool_[index].id;
    for (std::size_t i = 1; i < frames.size() && pool_[index].id == id; ++i)
        add(index, frames[i].frame());
}

void NicReceives::on_frame(std::uint32_t peer, const ArrivedFrame& frame) {
    switch (static_cast<FrameSays>(frame.note.kind)) {
        case FrameSays::whole:
        case FrameSays::begins:
            return on_first(peer, frame);
        case FrameSays::more:
            return on_more(peer, frame);
        case FrameSays::retract:
            return on_retract(peer, frame.note);
        default:
            wires_.fail(peer, fmt::format("sent a frame of kind {}", frame.note.kind));
    }
}

void NicReceives::on_first(std::uint32_t peer, const ArrivedFrame& frame) {
    const bool whole = frame.note.kind == static_cast<std::uint32_t>(FrameSays::whole);
    const std::size_t size = body_of(frame).size();
    if (whole ? frame.note.size_bytes != size : frame.note.size_bytes <= size)
        return wires_.fail(
            peer, fmt::format("sent {} bytes of a message of {}", size, frame.note.size_bytes));
    const std::size_t most_unasked =
        std::min<std::size_t>(frame.note.size_bytes, unasked_frames * wires_.frames().slot_bytes());
    if (!whole && (frame.note.other_id < size || frame.note.other_id > most_unasked))
        return wires_.fail(peer, fmt::format("sends {} bytes unasked; allowed are {} to {}",
                                             frame.note.other_id, size, most_unasked));
    const std::uint32_t index = pool_.remove_first(of(peer).posted, [&](const Incoming& incoming) {
        return incoming.request.tag == frame.note.tag;
    });
    if (index == no_entry) return keep(peer, frame);
    begin(index, frame);
}

void NicReceives::keep(std::uint32_t peer, const ArrivedFrame& frame) {
    const std::uint32_t index = early_pool_.take();
    Early& early = early_pool_[index];
    early.note = frame.note;
    early.taken_bytes = body_of(frame).size();
    early.frames.emplace_back(frame);
    early_pool_.push_back(of(peer).early, index);
    ++of(peer).early_count;
}

void NicReceives::keep_more(std::uint32_t peer, Early& early, const ArrivedFrame& frame) {
    const std::size_t size = body_of(frame).size();
    if (frame.note.size_bytes != early.taken_bytes ||
        size > early.note.other_id - early.taken_bytes)
        return wires_.fail(
            peer, fmt::format("sent {} bytes at {} where {} of {} come unasked", size,
                              frame.note.size_bytes, early.note.other_id, early.note.size_bytes));
    early.taken_bytes += size;
    early.frames.emplace_back(frame);
    ++of(peer).early_count;
}

/// Puts the next bytes of a message to where they belong, or adds them there. Elements of a frame
/// that was checked are whole ones.
void NicReceives::put(Incoming& incoming, const ArrivedFrame& frame) {
    const std::span<const std::byte> body = body_of(frame);
    const RecvRequest& request = incoming.request;
    std::byte* const to = request.data + incoming.taken_bytes;
    const bool adds = request.addend != nullptr && frame.coding != NicCoding::none;
    if (!adds) (request.past_caches ? copy_streaming : copy_bytes)(to, body.data(), body.size());
    if (adds && !request.exact->decode_sum(body.data(), body.size(),
                                           body.size() / element_bytes(request.codec->type),
                                           request.addend + incoming.taken_bytes, to))
        wires_.fail(peer_of(request), fmt::format("sent {} bytes of elements", body.size()));
    incoming.taken_bytes += body.size();
}

/// Begins a message that the receive has met.
void NicReceives::begin(std::uint32_t index, const ArrivedFrame& frame) {
    Incoming& incoming = pool_[index];
    const RecvRequest& request = incoming.request;
    const std::uint32_t peer = peer_of(request);
    const std::span<const std::byte> body = body_of(frame);
    const bool whole = frame.note.size_bytes == body.size();
    incoming.size_bytes = frame.note.size_bytes;
    if (incoming.size_bytes > request.size_bytes)
        return refuse(index, frame,
                      too_long(request.peer, request.tag, request.size_bytes, incoming.size_bytes));
    if (Status coded = check_coding(request, frame); !coded.ok())
        return refuse(index, frame, std::move(coded));
    put(incoming, frame);
    if (whole) return finish(index, {});
    incoming.sender_id = frame.note.id;
    pool_.push_back(of(peer).streaming, index);
    if (frame.note.other_id < incoming.size_bytes)
        wires_.say(peer, note_of(FrameSays::pull, frame.note.id, incoming.id));
}

/// Refuses a message. The sender keeps the rest, if there is one. What is under way is known to
/// nobody here.
void NicReceives::refuse(std::uint32_t index, const ArrivedFrame& frame, Status why) {
    if (frame.note.kind != static_cast<std::uint32_t>(FrameSays::whole))
        wires_.say(peer_of(pool_[index].request), note_of(FrameSays::done, frame.note.id));
    finish(index, std::move(why));
}

void NicReceives::on_more(std::uint32_t peer, const ArrivedFrame& frame) {
    if (frame.note.other_id == 0) return on_unasked(peer, frame);
    using Known = EntryPool<Incoming>::Known;
    std::uint32_t index = no_entry;
    const Known known = pool_.look_up(frame.note.other_id, index);
    if (known == Known::past) return;  // it was given up
    if (known == Known::never)
        return wires_.fail(
            peer, fmt::format("sent more of a message {:#x} that nobody has", frame.note.other_id));
    if (fits(peer, pool_[index], frame)) add(index, frame);
}

/// Takes bytes of a message that a receive has met, that none has, or that was given up.
void NicReceives::on_unasked(std::uint32_t peer, const ArrivedFrame& frame) {
    for (std::uint32_t at = of(peer).streaming.first; at != no_entry; at = pool_[at].next)
        if (pool_[at].sender_id == frame.note.id) {
            if (fits(peer, pool_[at], frame)) add(at, frame);
            return;
        }
    for (std::uint32_t at = of(peer).early.first; at != no_entry; at = early_pool_[at].next)
        if (early_pool_[at].note.id == frame.note.id)
            return keep_more(peer, early_pool_[at], frame);
}

bool NicReceives::fits(std::uint32_t peer, const Incoming& incoming, const ArrivedFrame& frame) {
    const std::size_t size = body_of(frame).size();
    if (incoming.request.peer == static_cast<int>(peer) && incoming.sender_id == frame.note.id &&
        incoming.taken_bytes > 0 && frame.note.size_bytes == incoming.taken_bytes &&
        size <= incoming.size_bytes - incoming.taken_bytes)
        return true;
    wires_.fail(peer, fmt::format("sent {} bytes at {} of a message of {}", size,
                                  frame.note.size_bytes, incoming.size_bytes));
    return false;
}

/// Adds the next bytes of a message that has begun.
void NicReceives::add(std::uint32_t index, const ArrivedFrame& frame) {
    Incoming& incoming = pool_[index];
    EntryList& streaming = of(peer_of(incoming.request)).streaming;
    if (Status coded = check_coding(incoming.request, frame); !coded.ok()) {
        pool_.remove(streaming, index);
        return refuse(index, frame, std::move(coded));
    }
    put(incoming, frame);
    if (incoming.taken_bytes < incoming.size_bytes) return;
    pool_.remove(streaming, index);
    finish(index, {});
}

/// Drops a message that has begun here, or that no receive has met.
void NicReceives::on_retract(std::uint32_t peer, const NicNote& note) {
    const std::uint32_t early = early_pool_.remove_first(of(peer).early, [&](const Early& kept) {
        return kept.note.id == note.id &&
               kept.note.kind == static_cast<std::uint32_t>(FrameSays::begins);
    });
    if (early != no_entry) {
        of(peer).early_count -= early_pool_[early].frames.size();
        early_pool_[early].frames.clear();
        return early_pool_.give_back(early);
    }
    const std::uint32_t index =
        pool_.remove_first(of(peer).streaming,
                           [&](const Incoming& incoming) { return incoming.sender_id == note.id; });
    if (index == no_entry) return;  // it was given up here, too
    const RecvRequest& request = pool_[index].request;
    finish(index, Status(Code::transport,
                         fmt::format("message from rank {} with tag {}: its sender gave it up",
                                     request.peer, request.tag)));
}

void NicReceives::finish(std::uint32_t index, Status status) {
    const Incoming& incoming = pool_[index];
    const std::size_t bytes = status.ok() ? incoming.taken_bytes : 0;
    incoming.request.lane->add({incoming.request.cookie, bytes, std::move(status)});
    pool_.give_back(index);
}

void NicReceives::abandon(const FinishedMessages& lane) {
    const auto belongs = [&](const Incoming& incoming) { return incoming.request.lane == &lane; };
    for (Peer& peer : peers_)
        for (EntryList* list : {&peer.posted, &peer.streaming})
            pool_.remove_all(*list, belongs, [&](std::uint32_t at) { pool_.give_back(at); });
}

}  // namespace gradcoll
