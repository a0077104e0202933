#include "nic/transport/nic_sends.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compress/frame.hpp"
#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// Returns how many bytes of a message a frame has at most. `codec` is null if the message is not
/// encoded on its way.
std::size_t most_bytes_in_frame(const Codec* codec, std::size_t frame_bytes) {
    return codec == nullptr ? frame_bytes
                            : coded_frame_elems(*codec, frame_bytes) * element_bytes(codec->type);
}

/// Shorter frames are copied: the agent's call of the system takes longer than that.
constexpr std::size_t least_referred_bytes = std::size_t{8} << 10;

bool has_echo(const SendRequest& request) {
    return !request.runs.empty() && request.runs.front().decoded != nullptr;
}

}  // namespace

bool NicSends::is_busy(std::uint32_t peer) const {
    const Peer& state = peers_[peer];
    return !state.waiting.empty() || !state.unasked.empty() || !state.announced.empty() ||
           !state.streaming.empty() || !state.leaving.empty() || wires_.has_words(peer);
}

void NicSends::start(const SendRequest& request) {
    const auto peer = static_cast<std::uint32_t>(request.peer);
    const std::uint32_t index = pool_.take();
    pool_[index].request = request;
    Outgoing& message = pool_[index];
    message.frame_bytes = most_bytes_in_frame(request.codec, wires_.frames().slot_bytes());
    message.unasked_bytes = std::min(request.size_bytes, unasked_frames * message.frame_bytes);
    // It lines up behind those that wait: messages of one pair and tag must not overtake one
    // another.
    if (of(peer).waiting.empty() && wires_.send_words(peer) && wires_.frames().has_room(peer))
        send_first(peer, index);
    else
        pool_.push_back(of(peer).waiting, index);
    while (send_more(peer, of(peer).unasked)) {
    }
}

/// Sends what there is room for. What somebody waits for goes before what nobody has asked for yet.
void NicSends::progress(std::uint32_t peer) {
    take_echoes(peer);
    finish_delivered(peer);
    if (!wires_.send_words(peer)) return;
    Peer& state = of(peer);
    while (send_more(peer, state.streaming) || send_more(peer, state.unasked)) {
    }
    while (!state.waiting.empty() && wires_.frames().has_room(peer)) {
        send_first(peer, pool_.pop_front(state.waiting));
        while (send_more(peer, state.unasked)) {
        }
    }
}

/// Sends the first frame of a message, for which there must be room.
void NicSends::send_first(std::uint32_t peer, std::uint32_t index) {
    Outgoing& message = pool_[index];
    const bool whole = message.request.size_bytes <= message.frame_bytes;
    NicNote note = note_of(whole ? FrameSays::whole : FrameSays::begins, message.id);
    note.tag = message.request.tag;
    note.size_bytes = message.request.size_bytes;
    if (!whole) note.other_id = message.unasked_bytes;
    post_bytes(message, note);
    line_up(peer, index);
}

/// Puts a message of which some bytes have left into its list.
void NicSends::line_up(std::uint32_t peer, std::uint32_t index) {
    const Outgoing& message = pool_[index];
    Peer& state = of(peer);
    if (message.sent_bytes == message.request.size_bytes)
        return pool_.push_back(state.leaving, index);
    if (message.receiver_id != 0) return pool_.push_back(state.streaming, index);
    pool_.push_back(message.sent_bytes < message.unasked_bytes ? state.unasked : state.announced,
                    index);
}

/// Returns true if a frame of the list's first message has left.
bool NicSends::send_more(std::uint32_t peer, EntryList& from) {
    if (from.empty() || !wires_.frames().has_room(peer)) return false;
    Outgoing& message = pool_[from.first];
    NicNote note = note_of(FrameSays::more, message.id, message.receiver_id);
    note.size_bytes = message.sent_bytes;
    post_bytes(message, note);
    const bool goes_on = message.sent_bytes < (message.receiver_id != 0 ? message.request.size_bytes
                                                                        : message.unasked_bytes);
    if (!goes_on) line_up(peer, pool_.pop_front(from));
    return true;
}

/// Posts as many bytes as fit behind what was sent before.
void NicSends::post_bytes(Outgoing& message, NicNote note) {
    FramePipe& frames = wires_.frames();
    const auto peer = static_cast<std::uint32_t>(message.request.peer);
    const std::size_t count =
        std::min(message.request.size_bytes - message.sent_bytes, message.frame_bytes);
    if (message.request.codec != nullptr) {
        frames.post(peer, coded_frame(message, note, count));
    } else {
        if (count > 0)
            copy_bytes(frames.room(peer), message.request.data + message.sent_bytes, count);
        frames.post(peer, note, count);
    }
    message.sent_bytes += count;
    message.last_frame = frames.posted(peer);
}

/// Makes a frame of the next elements: the agent is told where they are, or they are copied.
OutgoingFrame NicSends::coded_frame(Outgoing& message, const NicNote& note, std::size_t count) {
    FramePipe& frames = wires_.frames();
    const SendRequest& request = message.request;
    const auto peer = static_cast<std::uint32_t>(request.peer);
    std::byte* const room = frames.room(peer);
    write_plain_header(*request.codec, count / element_bytes(request.codec->type), room);
    OutgoingFrame frame{.size_bytes = frame_header_bytes + count,
                        .note = note,
                        .coding = coding_of(*request.codec),
                        .has_echo = has_echo(request)};
    const RunReader before = message.sent;
    if (count >= least_referred_bytes && frames.takes_runs(peer)) {
        message.sent.read(request.runs, count,
                          [&](const ElementRun& run, std::size_t at, std::size_t part) {
                              frame.add_run(run.data + at, part);
                          });
        if (frame.run_count <= most_nic_runs) return frame;
        frame.run_count = 0;
        message.sent = before;
    }
    std::byte* to = room + frame_header_bytes;
    message.sent.read(request.runs, count,
                      [&](const ElementRun& run, std::size_t at, std::size_t part) {
                          copy_bytes(to, run.data + at, part);
                          to += part;
                      });
    return frame;
}

/// Takes the echoes that are there. Those of messages that were given up are dropped.
void NicSends::take_echoes(std::uint32_t peer) {
    using Known = EntryPool<Outgoing>::Known;
    FramePipe& frames = wires_.frames();
    for (auto echo = frames.next_echo(peer); echo; echo = frames.next_echo(peer)) {
        std::uint32_t index = no_entry;
        if (pool_.look_up(echo->id, index) == Known::in_use)
            if (const Status put = put_echo(pool_[index], echo->frame); !put.ok())
                wires_.fail(peer, "is sent what cannot be decoded: " + put.message());
        frames.pop_echo(peer);
    }
}

/// Writes an echo to where it belongs. Echoes come in the order of their frames.
Status NicSends::put_echo(Outgoing& message, std::span<const std::byte> frame) const {
    const std::span<const std::byte> elements =
        GRADCOLL_VALUE(elements_of_plain(*message.request.codec, frame));
    const std::byte* from = elements.data();
    message.echoed.read(message.request.runs, elements.size(),
                        [&](const ElementRun& run, std::size_t at, std::size_t part) {
                            (run.past_caches ? copy_streaming : copy_bytes)(run.decoded + at, from,
                                                                            part);
                            from += part;
                        });
    return {};
}

void NicSends::finish_delivered(std::uint32_t peer) {
    EntryList& leaving = of(peer).leaving;
    if (leaving.empty()) return;
    const std::uint64_t delivered = wires_.frames().delivered(peer);
    while (!leaving.empty() && pool_[leaving.first].last_frame <= delivered)
        finish(pool_.pop_front(leaving));
}

void NicSends::finish(std::uint32_t index) {
    const SendRequest& request = pool_[index].request;
    const auto peer = static_cast<std::uint32_t>(request.peer);
    const std::size_t coded_bytes =
        request.codec != nullptr ? wires_.frames().take_coded_bytes(peer) : 0;
    request.lane->add({request.cookie, 0, {}, coded_bytes});
    pool_.give_back(index);
}

/// Takes the message that the peer means out of its list; returns null for one of which nothing is
/// left to send, or that was given up while the answer was under way.
EntryList* NicSends::take_answered(std::uint32_t peer, const NicNote& note, std::uint32_t& index) {
    using Known = EntryPool<Outgoing>::Known;
    const Known known = pool_.look_up(note.id, index);
    if (known == Known::past) return nullptr;
    if (known == Known::never || pool_[index].request.peer != static_cast<int>(peer)) {
        wires_.fail(peer, fmt::format("answers a message {:#x} that was never sent", note.id));
        return nullptr;
    }
    for (EntryList* list : {&of(peer).unasked, &of(peer).announced, &of(peer).streaming})
        if (pool_.remove(*list, index) == index) return list;
    if (pool_[index].sent_bytes < pool_[index].request.size_bytes)
        wires_.fail(peer, "answers a message that was not announced");
    return nullptr;
}

void NicSends::on_pull(std::uint32_t peer, const NicNote& note) {
    std::uint32_t index = no_entry;
    const EntryList* list = take_answered(peer, note, index);
    if (list == nullptr) return;
    if (list == &of(peer).streaming) return wires_.fail(peer, "asks twice for a message");
    if (note.other_id == 0) return wires_.fail(peer, "asks for a message under no name");
    pool_[index].receiver_id = note.other_id;
    line_up(peer, index);
}

/// Sends no more of the message. It ends when all that has left is delivered.
void NicSends::on_done(std::uint32_t peer, const NicNote& note) {
    std::uint32_t index = no_entry;
    if (take_answered(peer, note, index) != nullptr) pool_.push_back(of(peer).leaving, index);
}

/// Abandons the lane's messages. What is in frames already arrives; the rest of longer messages is
/// taken back. Agents read no elements of theirs any more.
void NicSends::abandon(const FinishedMessages& lane) {
    const auto belongs = [&](const Outgoing& message) { return message.request.lane == &lane; };
    for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
        Peer& state = peers_[peer];
        const auto give_back = [&](std::uint32_t at) { pool_.give_back(at); };
        pool_.remove_all(state.waiting, belongs, give_back);
        for (EntryList* list : {&state.unasked, &state.announced, &state.streaming})
            pool_.remove_all(*list, belongs, [&](std::uint32_t at) {
                wires_.say(peer, note_of(FrameSays::retract, pool_[at].id));
                pool_.push_back(state.leaving, at);
            });
        if (pool_.remove_all(state.leaving, belongs, give_back)) wires_.frames().let_go(peer);
    }
}

}  // namespace gradcoll
