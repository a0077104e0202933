#include "nic/transport/nic_traffic.hpp"

#include <mutex>
#include <utility>

namespace gradcoll {
namespace {

/// One peer has this many frames before the next has its turn.
constexpr int frames_at_once = 4;
/// A rest without news counts for this many idle looks: so the end of an agent is noticed soon.
constexpr unsigned looks_a_rest = 80;
/// A rank that waits for a sum sleeps at most this long: messages of others go on after it.
constexpr std::chrono::microseconds longest_rest{1000};

}  // namespace

NicTraffic::NicTraffic(AgentConnection agent, std::uint32_t rank, std::vector<std::uint32_t> peers,
                       std::unique_ptr<FrameDetour> detour)
    : peers_(std::move(peers)),
      detour_(std::move(detour)),
      frames_(std::move(agent), rank, peers_, *detour_),
      wires_(frames_, peers_.empty() ? 0 : peers_.back() + 1),
      sends_(wires_, peers_.empty() ? 0 : peers_.back() + 1),
      receives_(wires_, peers_.empty() ? 0 : peers_.back() + 1),
      sums_(frames_, rank) {}

void NicTraffic::lane_opened(std::size_t capacity) {
    const std::lock_guard guard(lock_);
    capacity_ += capacity;
    sends_.reserve(capacity_);
    receives_.reserve(capacity_);
}

void NicTraffic::lane_closed(std::size_t capacity) {
    const std::lock_guard guard(lock_);
    capacity_ -= capacity;
}

Status NicTraffic::start_send(const SendRequest& request) {
    const std::lock_guard guard(lock_);
    if (fault().ok()) sends_.start(request);
    return fault();
}

Status NicTraffic::start_recv(const RecvRequest& request) {
    const std::lock_guard guard(lock_);
    if (fault().ok()) receives_.start(request);
    return fault();
}

bool NicTraffic::take_frames(std::uint32_t peer) {
    bool any = false;
    for (int i = 0; i < frames_at_once && wires_.fault().ok() && !receives_.is_full(peer); ++i) {
        const ArrivedFrame* frame = frames_.front(peer);
        if (frame == nullptr) break;
        any = true;
        switch (static_cast<FrameSays>(frame->note.kind)) {
            case FrameSays::pull:
                sends_.on_pull(peer, frame->note);
                break;
            case FrameSays::done:
                sends_.on_done(peer, frame->note);
                break;
            default:
                receives_.on_frame(peer, *frame);
        }
        frames_.pop(peer);
    }
    return any;
}

bool NicTraffic::progress(std::uint32_t peer) {
    frames_.look_at(peer);
    const bool any = take_frames(peer);
    sends_.progress(peer);
    return any;
}

Result<std::size_t> NicTraffic::poll(FinishedMessages& lane, std::span<Completion> out) {
    const std::lock_guard guard(lock_);
    seen_ = frames_.news();
    if (fault_.ok()) fault_ = frames_.look(idle_looks_);
    bool any = false;
    for (const std::uint32_t peer : peers_)
        if (fault().ok() && (sends_.is_busy(peer) || receives_.is_busy(peer)))
            any |= progress(peer);
    if (!fault().ok()) return fault();
    const std::size_t count = lane.take(out);
    idle_looks_ = any || count > 0 ? 0 : 1;
    return count;
}

/// Sleeps without the lock: others may poll meanwhile, and what they find for this lane is not lost
/// but late.
bool NicTraffic::rest(const FinishedMessages& lane, std::chrono::microseconds longest) {
    std::uint32_t seen = 0;
    {
        const std::lock_guard guard(lock_);
        if (idle_looks_ == 0 || !lane.empty() || !fault().ok() || !frames_.may_rest()) return false;
        seen = seen_;
    }
    if (frames_.rest(seen, longest)) return true;
    const std::lock_guard guard(lock_);
    if (idle_looks_ != 0) idle_looks_ = looks_a_rest;
    return true;
}

/// Lets the sum go on, and looks at the detour and the agent's health, as polls do.
NicTraffic::Turn NicTraffic::sum_turn(unsigned idle, std::uint32_t& seen) {
    const std::lock_guard guard(lock_);
    seen = frames_.news();
    if (fault_.ok()) fault_ = frames_.look(idle);
    if (!fault().ok()) return Turn::over;
    const bool any = sums_.progress();
    return sums_.is_over() ? Turn::over : any ? Turn::busy : Turn::idle;
}

void NicTraffic::sum(const SumRequest& request) {
    {
        const std::lock_guard guard(lock_);
        sums_.begin(request);
    }
    unsigned idle = 0;
    for (std::uint32_t seen = 0;;) {
        const Turn turn = sum_turn(idle, seen);
        if (turn == Turn::over) return;
        idle = turn == Turn::busy ? 0 : frames_.rest(seen, longest_rest) ? 1 : looks_a_rest;
    }
}

std::size_t NicTraffic::give_back_behind(std::uint64_t pieces) {
    const std::lock_guard guard(lock_);
    return sums_.give_back_behind(pieces);
}

SentOfSums NicTraffic::take_sent_of_sums() {
    const std::lock_guard guard(lock_);
    return frames_.take_sent_of_sums();
}

void NicTraffic::abandon(FinishedMessages& lane) {
    const std::lock_guard guard(lock_);
    sends_.abandon(lane);
    receives_.abandon(lane);
    lane.forget();
}

}  // namespace gradcoll
