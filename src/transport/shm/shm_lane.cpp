#include "transport/shm/shm_lane.hpp"

#include "transport/shm/traffic.hpp"

namespace gradcoll {

ShmLane::ShmLane(ShmTraffic& traffic, const Channel& channel, std::size_t capacity)
    : traffic_(traffic), channel_(channel), capacity_(capacity), finished_(capacity) {
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
        {&finished_, static_cast<const std::byte*>(data), size_bytes, cookie, peer, tag}));
    ++started_;
    return {};
}

Status ShmLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                           std::uint32_t cookie) {
    GRADCOLL_TRY(admit(peer, tag));
    GRADCOLL_TRY(traffic_.start_recv(
        {&finished_, static_cast<std::byte*>(data), size_bytes, cookie, peer, tag}));
    ++started_;
    return {};
}

Result<std::size_t> ShmLane::poll(std::span<Completion> out) {
    if (started_ == 0) return std::size_t{0};
    Result<std::size_t> count = traffic_.poll(finished_, out);
    if (count.ok()) started_ -= *count;
    return count;
}

void ShmLane::abandon() {
    if (started_ > 0) traffic_.abandon(finished_);
    started_ = 0;
}

}  // namespace gradcoll
