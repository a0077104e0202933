#include "nic/transport/frame_pipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/figures.hpp"
#include "base/log.hpp"
#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// There is one look at the detour, which is a call of the MPI library, for this many idle looks,
/// and one at whether the agent is alive, which is a call of the system.
constexpr unsigned idle_looks_a_detour = 16;
constexpr unsigned idle_looks_a_check = 256;

void say_that_agents_are_lost(std::uint32_t peer, bool has_left) {
    if (has_left)
        return log(LogLevel::debug, "rank {} has left the NIC agents: messages go directly", peer);
    static std::atomic<bool> said{false};
    log(said.exchange(true) ? LogLevel::debug : LogLevel::warn,
        "NIC agents no longer reach rank {}: its messages go directly", peer);
}

}  // namespace

FramePipe::FramePipe(AgentConnection agent, std::uint32_t rank, std::vector<std::uint32_t> peers,
                     FrameDetour& detour)
    : agent_(std::move(agent)),
      layout_(agent_.layout()),
      entries_(layout_, NicWay::to_agent),
      arrivals_(layout_, NicWay::to_rank),
      rank_(rank),
      peers_(std::move(peers)),
      pairs_(layout_.shape().ranks),
      detour_(detour),
      spare_(slot_bytes()) {
    for (const std::uint32_t peer : peers_) pairs_[peer].kept.resize(slots());
    pairs_[rank_].kept.resize(slots());
}

// ---- out

bool FramePipe::has_room(std::uint32_t peer) {
    const Pair& pair = pairs_[peer];
    if (pair.posted - pair.delivered >= slots()) look_at(peer);
    if (!has_echo_room(pair, slots())) return false;
    if (pair.lost) return detour_.under_way(peer) < slots();
    return pair.posted - pair.delivered < slots() && entries_.has_room();
}

/// Returns room in memory that the system has granted; what it has no memory for is not touched.
std::byte* FramePipe::room(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    if (!pair.lost && !pair.has_memory) {
        pair.has_memory = agent_.region().allocate_slots(NicSlots::leaving, peer).ok();
        if (!pair.has_memory) lose(peer);
    }
    return pair.lost ? spare_.data() : layout_.slot(NicSlots::leaving, peer, pair.posted + 1);
}

void FramePipe::post(std::uint32_t peer, OutgoingFrame frame) {
    Pair& pair = pairs_[peer];
    frame.number = ++pair.posted;
    if (frame.has_echo) pair.echoes.push_back({frame.number, frame.note.id, frame.size_bytes, {}});
    if (pair.lost) return send_round(peer, frame, spare_.data());
    NicCounters::of_process().count_sent(frame.size_bytes, frame.coding != NicCoding::none);
    pair.kept[frame.number % slots()] = frame;
    std::memcpy(
        layout_.slot(NicSlots::leaving, peer, frame.number) + plain_header_bytes(frame.coding),
        frame.runs.data(), frame.run_count * sizeof(NicRun));
    entries_.write({.kind = NicEntryKind::frame,
                    .peer = peer,
                    .number = frame.number,
                    .size_bytes = frame.size_bytes,
                    .note = frame.note,
                    .coding = frame.coding,
                    .echo = frame.has_echo,
                    .runs = static_cast<std::uint8_t>(frame.run_count)});
    agent_.wake();
}

void FramePipe::let_go(std::uint32_t peer) {
    look_at(peer);
    const Pair& pair = pairs_[peer];
    for (std::uint64_t number = pair.delivered + 1; number <= pair.posted; ++number)
        if (pair.kept[number % slots()].run_count > 0) return lose(peer);
}

/// Returns the bytes of a frame that was posted to the agent, put together if they are in runs.
const std::byte* FramePipe::bytes_of_kept(std::uint32_t peer, const OutgoingFrame& frame) {
    const std::byte* const slot = layout_.slot(NicSlots::leaving, peer, frame.number);
    if (frame.run_count == 0) return slot;
    std::memcpy(spare_.data(), slot, plain_header_bytes(frame.coding));
    std::byte* to = spare_.data() + plain_header_bytes(frame.coding);
    for (const NicRun& run : frame.runs_of_elements()) {
        copy_bytes(to, std::bit_cast<const std::byte*>(run.address), run.size_bytes);
        to += run.size_bytes;
    }
    return spare_.data();
}

/// What the agent has written stays in its slot: no frame is posted behind it that could take its
/// place.
std::optional<FramePipe::Echo> FramePipe::next_echo(std::uint32_t peer) const {
    const Pair& pair = pairs_[peer];
    if (pair.echoes.empty() || pair.echoes.front().number > pair.delivered) return {};
    const Pair::AwaitedEcho& next = pair.echoes.front();
    if (!next.own.empty()) return Echo{next.id, next.own};
    return Echo{next.id, {layout_.slot(NicSlots::echoed, peer, next.number), next.size_bytes}};
}

Status FramePipe::make_echo(Pair& pair, std::uint64_t number, std::span<const std::byte> coded) {
    for (Pair::AwaitedEcho& echo : pair.echoes) {
        if (echo.number != number) continue;
        echo.own.resize(slot_bytes());
        echo.own.resize(GRADCOLL_VALUE(coder_.decode(coded, echo.own)));
    }
    return {};
}

void FramePipe::send_round(std::uint32_t peer, const OutgoingFrame& frame, const std::byte* bytes) {
    Status sent = encode_and_send(peer, frame, bytes);
    if (!sent.ok() && fault_.ok()) fault_ = std::move(sent);
}

/// Takes the detour, and encodes what the agent would have encoded.
Status FramePipe::encode_and_send(std::uint32_t peer, const OutgoingFrame& frame,
                                  const std::byte* bytes) {
    std::span<const std::byte> sent{bytes, frame.size_bytes};
    if (frame.coding != NicCoding::none) {
        GRADCOLL_TRY(take(sent, coder_.encode(sent, frame.coding)));
        pairs_[peer].coded_round += sent.size();
    }
    NicCounters::of_process().count_detoured(sent.size());
    GRADCOLL_TRY(detour_.send(peer, frame, sent));
    return frame.has_echo ? make_echo(pairs_[peer], frame.number, sent) : Status();
}

Status FramePipe::decode_detoured(DetouredFrame& frame) {
    if (frame.coding == NicCoding::none) return {};
    std::vector<std::byte> plain(slot_bytes());
    plain.resize(GRADCOLL_VALUE(coder_.decode(frame.bytes, plain)));
    frame.bytes = std::move(plain);
    return {};
}

/// Reads how far the agent has come. A count that cannot be is left alone: whoever waits for the
/// frames loses the agents instead.
void FramePipe::look_at(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    if (pair.lost) {
        pair.delivered = pair.posted;  // in messages of the MPI library, or there already
        return;
    }
    const NicPeerWords& words = layout_.peer(peer);
    const std::uint64_t state = words.state.load(std::memory_order_acquire);
    const std::uint64_t delivered = words.delivered.load(std::memory_order_acquire);
    if (delivered > pair.delivered && delivered <= pair.posted) pair.delivered = delivered;
    if (state != static_cast<std::uint64_t>(NicPeerState::reached))
        lose(peer, state == static_cast<std::uint64_t>(NicPeerState::left));
}

/// Gives the agents up for a peer. What was not delivered, as far as is known here, goes again; the
/// peer has the rest. An agent that stood still, and goes on, sends nothing that it reads from now
/// on.
void FramePipe::lose(std::uint32_t peer, bool has_left) {
    Pair& pair = pairs_[peer];
    if (std::exchange(pair.lost, true)) return;
    layout_.own(peer).withdrawn.store(1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (peer == rank_) return;
    any_lost_ = true;
    if (!has_left) NicCounters::of_process().count_lost();
    say_that_agents_are_lost(peer, has_left);
    for (std::uint64_t number = pair.delivered + 1; number <= pair.posted; ++number) {
        const OutgoingFrame& frame = pair.kept[number % slots()];
        send_round(peer, frame, bytes_of_kept(peer, frame));
    }
}

/// Returns how many coded bytes were added. What the agent says can be wrong, but the sum never
/// falls.
std::size_t FramePipe::take_coded_bytes(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    const std::uint64_t by_agent = layout_.peer(peer).coded_bytes.load(std::memory_order_relaxed);
    const std::uint64_t all = std::max(by_agent + pair.coded_round, pair.coded_told);
    return all - std::exchange(pair.coded_told, all);
}

SentOfSums FramePipe::take_sent_of_sums() {
    const NicPeerWords& words = layout_.peer(rank_);
    const SentOfSums all{words.coded_bytes.load(std::memory_order_relaxed),
                         words.summed_bytes.load(std::memory_order_relaxed)};
    const SentOfSums before = std::exchange(told_of_sums_, all);
    return {all.bytes - before.bytes, all.exact_bytes - before.exact_bytes};
}

// ---- in

/// Returns the next frame of the peer, from whichever way has it: a number that both ways bring is
/// the same frame.
const ArrivedFrame* FramePipe::front(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    const std::uint64_t next = pair.taken + 1;
    while (!pair.arrived.empty() && pair.arrived.front().number < next) pair.arrived.pop_front();
    while (!pair.detoured.empty() && pair.detoured.front().number < next) pair.detoured.pop_front();
    if (!pair.arrived.empty() && pair.arrived.front().number == next) {
        const NicEntry& entry = pair.arrived.front();
        pair.front = {entry.note, layout_.slot(NicSlots::coming, peer, next), entry.size_bytes,
                      entry.coding};
        return &pair.front;
    }
    if (pair.detoured.empty() || pair.detoured.front().number != next) return nullptr;
    const DetouredFrame& frame = pair.detoured.front();
    pair.front = {frame.note, frame.bytes.data(), frame.bytes.size(), frame.coding};
    return &pair.front;
}

void FramePipe::pop(std::uint32_t peer) {
    ++pairs_[peer].taken;
    tell_taken(peer);
}

/// Tells the peer's agent now and then what was taken: it goes on as soon as there is room for a
/// part of the slots.
void FramePipe::tell_taken(std::uint32_t peer) {
    Pair& pair = pairs_[peer];
    if (peer == rank_) return;  // the next piece says so
    if (pair.lost || pair.taken - pair.told < slots() / 4 || !entries_.has_room()) return;
    NicEntry entry;
    entry.kind = NicEntryKind::consumed;
    entry.peer = peer;
    entry.number = pair.taken;
    entries_.write(entry);
    pair.told = pair.taken;
    agent_.wake();
}

bool FramePipe::is_known(const NicEntry& entry) const {
    const bool is_peer =
        entry.peer == rank_ || std::binary_search(peers_.begin(), peers_.end(), entry.peer);
    return entry.kind == NicEntryKind::frame && is_peer &&
           entry.number == pairs_[entry.peer].arrived_number + 1 &&
           entry.size_bytes <= slot_bytes();
}

Status FramePipe::read_ring() {
    for (;;) {
        const std::optional<NicEntry> entry = GRADCOLL_VALUE(arrivals_.read());
        if (!entry) return {};
        if (!is_known(*entry))
            return {Code::corrupt,
                    fmt::format("the NIC agent brings frame {} of rank {} with {} bytes",
                                entry->number, entry->peer, entry->size_bytes)};
        ++pairs_[entry->peer].arrived_number;
        pairs_[entry->peer].arrived.push_back(*entry);
    }
}

/// Takes the frames of the detour. Whoever sends by it has lost the agents, and is lost to them.
Status FramePipe::read_detour() {
    for (;;) {
        DetouredFrame frame;
        if (const bool came = GRADCOLL_VALUE(detour_.receive(frame)); !came) return {};
        if (!std::binary_search(peers_.begin(), peers_.end(), frame.peer) ||
            frame.bytes.size() > slot_bytes())
            return {Code::corrupt, fmt::format("a frame of {} bytes from rank {}",
                                               frame.bytes.size(), frame.peer)};
        GRADCOLL_TRY(decode_detoured(frame));
        look_at(frame.peer);
        lose(frame.peer);
        pairs_[frame.peer].detoured.push_back(std::move(frame));
    }
}

bool FramePipe::agent_works() {
    return agent_.is_alive() && watch_.look(agent_.beats(), AgentWatch::Clock::now());
}

Status FramePipe::look(unsigned idle) {
    const unsigned before = std::exchange(idle_looks_, idle_looks_ + idle);
    const auto is_time = [&](unsigned looks) { return before / looks != idle_looks_ / looks; };
    if (fault_.ok()) fault_ = read_ring();
    if (is_time(idle_looks_a_check) && !agent_works()) {
        lose(rank_);
        for (const std::uint32_t peer : peers_) {
            look_at(peer);
            lose(peer);
        }
    }
    if (fault_.ok() && (any_lost_ || is_time(idle_looks_a_detour))) fault_ = read_detour();
    return fault_;
}

}  // namespace gradcoll
