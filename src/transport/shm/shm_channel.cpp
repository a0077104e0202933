#include "transport/shm/shm_channel.hpp"

#include <utility>

#include "transport/traffic_lane.hpp"

namespace gradcoll {

ShmChannel::ShmChannel(std::shared_ptr<ShmTraffic> traffic, std::uint16_t group)
    : messages_(std::move(traffic), group) {
    messages_.traffic().open_group(group);
}

std::unique_ptr<Lane> ShmChannel::open_lane(std::size_t capacity) {
    return std::make_unique<TrafficLane<Messages>>(messages_, *this, capacity);
}

}  // namespace gradcoll
