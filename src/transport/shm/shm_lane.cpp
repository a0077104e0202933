#include "transport/shm/shm_lane.hpp"

#include <algorithm>
#include <utility>

#include "transport/shm/traffic.hpp"

namespace gradcoll {

ShmLane::ShmLane(ShmTraffic& traffic, const Channel& channel, std::size_t capacity)
    : traffic_(traffic), channel_(channel), capacity_(capacity) {
    done_.reserve(capacity);
    traffic_.lane_opened(capacity);
}

ShmLane::~ShmLane() {
    ShmLane::abandon();
    traffic_.lane_closed(capacity_);
}

Status ShmLane::admit(int peer, int tag) const {
    if (started_ == capacity_) return lane_full(capacity_);
    return check_envelope(channel_, peer, tag);
}

Status ShmLane::start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    GRADCOLL_TRY(admit(peer, tag));
    GRADCOLL_TRY(traffic_.start_send(
        {this, static_cast<const std::byte*>(data), size_bytes, cookie, peer, tag}));
    ++started_;
    return {};
}

Status ShmLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    GRADCOLL_TRY(admit(peer, tag));
    GRADCOLL_TRY(
        traffic_.start_recv({this, static_cast<std::byte*>(data), size_bytes, cookie, peer, tag}));
    ++started_;
    return {};
}

Result<std::size_t> ShmLane::poll(std::span<Completion> out) {
    if (started_ == 0) return std::size_t{0};
    Result<std::size_t> count = traffic_.poll(*this, out);
    if (count.ok()) started_ -= *count;
    return count;
}

std::size_t ShmLane::take_finished(std::span<Completion> out) {
    const std::size_t count = std::min(out.size(), done_.size());
    if (count == 0) return 0;
    const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(done_.begin(), end, out.begin());
    done_.erase(done_.begin(), end);
    return count;
}

void ShmLane::abandon() {
    if (started_ > 0) traffic_.abandon(*this);
    started_ = 0;
}

}  // namespace gradcoll
