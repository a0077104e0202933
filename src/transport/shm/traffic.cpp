#include "transport/shm/traffic.hpp"

#include <fmt/format.h>

#include <mutex>
#include <numeric>
#include <utility>

namespace gradcoll {
namespace {

/// For one peer this many bytes are copied out before the next has its turn.
constexpr std::size_t copied_at_once = 256 * 1024;

std::vector<PairWire> wires_of(const ShmLayout& layout, int rank, const std::vector<int>& names) {
    std::vector<PairWire> wires;
    for (int peer = 0; peer < layout.rank_count(); ++peer)
        wires.emplace_back(layout, rank, peer, names[static_cast<std::size_t>(peer)]);
    return wires;
}

}  // namespace

Result<std::shared_ptr<ShmTraffic>> ShmTraffic::make(const ShmPlace& place,
                                                     std::vector<int> rank_names,
                                                     PeerMemory memory) {
    const auto layout =
        GRADCOLL_VALUE(ShmLayout::make(place.memory, place.rank_count, place.bytes_a_rank));
    if (rank_names.empty()) {
        rank_names.resize(static_cast<std::size_t>(place.rank_count));
        std::iota(rank_names.begin(), rank_names.end(), 0);
    }
    return std::shared_ptr<ShmTraffic>(
        new ShmTraffic(layout, place.rank, rank_names, std::move(memory)));
}

ShmTraffic::ShmTraffic(const ShmLayout& layout, int rank, const std::vector<int>& rank_names,
                       PeerMemory memory)
    : layout_(layout),
      rank_(rank),
      memory_(std::move(memory)),
      wires_(wires_of(layout_, rank, rank_names)),
      sends_(layout_, rank, wires_, memory_),
      receives_(layout_, wires_, memory_) {}

bool ShmTraffic::has_failed() {
    const std::lock_guard guard(lock_);
    return !fault_.ok();
}

void ShmTraffic::open_group(std::uint16_t group) {
    const std::lock_guard guard(lock_);
    receives_.open(group);
}

void ShmTraffic::close_group(std::uint16_t group) {
    const std::lock_guard guard(lock_);
    receives_.close(group);
}

void ShmTraffic::lane_opened(std::size_t capacity) {
    const std::lock_guard guard(lock_);
    capacity_ += capacity;
    sends_.reserve(capacity_);
    receives_.reserve(capacity_);
}

void ShmTraffic::lane_closed(std::size_t capacity) {
    const std::lock_guard guard(lock_);
    capacity_ -= capacity;
}

Status ShmTraffic::start_send(const SendRequest& request, std::uint16_t group) {
    const std::lock_guard guard(lock_);
    if (fault_.ok()) sends_.start(request, group);
    return fault_;
}

Status ShmTraffic::start_recv(const RecvRequest& request, std::uint16_t group) {
    const std::lock_guard guard(lock_);
    if (fault_.ok()) receives_.start(request, group);
    return fault_;
}

void ShmTraffic::take_records(int peer) {
    PairWire& wire = wires_[static_cast<std::size_t>(peer)];
    const std::size_t enough = receives_.copied_bytes() + copied_at_once;
    while (wire.fault().ok() && receives_.copied_bytes() < enough && !receives_.is_full(peer)) {
        const auto body = wire.take();
        if (!body) return;
        switch (body->kind) {
            case RecordKind::pull:
                sends_.on_pull(peer, body->note());
                break;
            case RecordKind::done:
                sends_.on_done(peer, body->note());
                break;
            case RecordKind::inlined:
            case RecordKind::announce:
            case RecordKind::piece:
            case RecordKind::retract:
                receives_.on_record(peer, *body);
                break;
            default:
                wire.fail(fmt::format("sent a record of kind {}", static_cast<int>(body->kind)));
        }
    }
}

void ShmTraffic::progress(int peer) {
    take_records(peer);
    sends_.progress(peer);
    receives_.progress(peer);
    const Status& fault = wires_[static_cast<std::size_t>(peer)].fault();
    if (!fault.ok() && fault_.ok()) fault_ = fault;
}

Result<std::size_t> ShmTraffic::poll(FinishedMessages& lane, std::span<Completion> out) {
    const std::lock_guard guard(lock_);
    for (int peer = 0; peer < layout_.rank_count() && fault_.ok(); ++peer)
        if (sends_.is_busy(peer) || receives_.is_busy(peer)) progress(peer);
    if (!fault_.ok()) return fault_;
    return lane.take(out);
}

void ShmTraffic::abandon(FinishedMessages& lane) {
    const std::lock_guard guard(lock_);
    sends_.abandon(lane);
    receives_.abandon(lane);
    lane.forget();
}

}  // namespace gradcoll
