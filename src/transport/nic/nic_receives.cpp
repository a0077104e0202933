#include "transport/nic/nic_receives.hpp"

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

/// What a frame has of its message: of one that was coded the elements.
std::span<const std::byte> body_of(const ArrivedFrame& frame) {
    const std::span<const std::byte> bytes(frame.bytes, frame.size_bytes);
    if (frame.coding == NicCoding::none) return bytes;
    return bytes.subspan(std::min(bytes.size(), frame_header_bytes));
}

/// Whether the frame is of the message that was asked for. What stands in the place of one is
/// shorter, and not coded.
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
    --peer.early_count;
    const Early& kept = early_pool_[early];
    begin(index, {kept.note, kept.bytes.data(), kept.bytes.size(), kept.coding});
    early_pool_.give_back(early);
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
    const std::uint32_t index = pool_.remove_first(of(peer).posted, [&](const Incoming& incoming) {
        return incoming.request.tag == frame.note.tag;
    });
    if (index == no_entry) return keep(peer, frame);
    begin(index, frame);
}

void NicReceives::keep(std::uint32_t peer, const ArrivedFrame& frame) {
    const std::uint32_t index = early_pool_.take();
    Early& kept = early_pool_[index];
    kept.note = frame.note;
    kept.coding = frame.coding;
    kept.bytes.assign(frame.bytes, frame.bytes + frame.size_bytes);
    early_pool_.push_back(of(peer).early, index);
    ++of(peer).early_count;
}

/// The receive has met its message.
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
    copy_bytes(request.data, body.data(), body.size());
    incoming.taken_bytes = body.size();
    if (whole) return finish(index, {});
    incoming.sender_id = frame.note.id;
    pool_.push_back(of(peer).streaming, index);
    wires_.say(peer, note_of(FrameSays::pull, frame.note.id, incoming.id));
}

/// The sender keeps the rest, if there is one.
void NicReceives::refuse(std::uint32_t index, const ArrivedFrame& frame, Status why) {
    if (frame.note.kind != static_cast<std::uint32_t>(FrameSays::whole))
        wires_.say(peer_of(pool_[index].request), note_of(FrameSays::done, frame.note.id));
    finish(index, std::move(why));
}

void NicReceives::on_more(std::uint32_t peer, const ArrivedFrame& frame) {
    using Known = EntryPool<Incoming>::Known;
    std::uint32_t index = no_entry;
    const Known known = pool_.look_up(frame.note.other_id, index);
    if (known == Known::past) return;  // it was given up
    if (known == Known::never)
        return wires_.fail(
            peer, fmt::format("sent more of a message {:#x} that nobody has", frame.note.other_id));
    Incoming& incoming = pool_[index];
    const std::span<const std::byte> body = body_of(frame);
    const bool fits = incoming.request.peer == static_cast<int>(peer) &&
                      incoming.sender_id == frame.note.id && incoming.taken_bytes > 0 &&
                      frame.note.size_bytes == incoming.taken_bytes &&
                      body.size() <= incoming.size_bytes - incoming.taken_bytes;
    if (!fits)
        return wires_.fail(peer, fmt::format("sent {} bytes at {} of a message of {}", body.size(),
                                             frame.note.size_bytes, incoming.size_bytes));
    if (Status coded = check_coding(incoming.request, frame); !coded.ok()) {
        pool_.remove(of(peer).streaming, index);
        return refuse(index, frame, std::move(coded));
    }
    copy_bytes(incoming.request.data + incoming.taken_bytes, body.data(), body.size());
    incoming.taken_bytes += body.size();
    if (incoming.taken_bytes < incoming.size_bytes) return;
    pool_.remove(of(peer).streaming, index);
    finish(index, {});
}

/// Of a message that begun here, or that no receive has met.
void NicReceives::on_retract(std::uint32_t peer, const NicNote& note) {
    const std::uint32_t early = early_pool_.remove_first(of(peer).early, [&](const Early& kept) {
        return kept.note.id == note.id &&
               kept.note.kind == static_cast<std::uint32_t>(FrameSays::begins);
    });
    if (early != no_entry) {
        --of(peer).early_count;
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
