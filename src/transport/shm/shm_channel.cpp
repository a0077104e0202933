#include "transport/shm/shm_channel.hpp"

#include <utility>

#include "transport/traffic_lane.hpp"

namespace gradcoll {

ShmChannel::ShmChannel(std::shared_ptr<ShmTraffic> traffic, std::uint16_t group)
    : messages_(std::move(traffic), group) {
    messages_.traffic().open_group(group);
}

Result<std::unique_ptr<ShmChannel>> ShmChannel::make(const ShmPlace& place,
                                                     std::vector<int> rank_names,
                                                     PeerMemory memory) {
    return make_beside(
        GRADCOLL_VALUE(ShmTraffic::make(place, std::move(rank_names), std::move(memory))), 0);
}

std::unique_ptr<ShmChannel> ShmChannel::make_beside(std::shared_ptr<ShmTraffic> traffic,
                                                    std::uint16_t group) {
    return std::unique_ptr<ShmChannel>(new ShmChannel(std::move(traffic), group));
}

std::unique_ptr<Lane> ShmChannel::open_lane(std::size_t capacity) {
    return std::make_unique<TrafficLane<Messages>>(messages_, *this, capacity);
}

}  // namespace gradcoll
