#include "transport/shm/shm_channel.hpp"

#include <numeric>
#include <utility>

#include "transport/traffic_lane.hpp"

namespace gradcoll {
ShmChannel::ShmChannel(const ShmPlace& place, const ShmLayout& layout,
                       const std::vector<int>& rank_names, PeerMemory memory)
    : place_(place), traffic_(layout, place.rank, rank_names, std::move(memory)) {}

Result<std::unique_ptr<ShmChannel>> ShmChannel::make(const ShmPlace& place,
                                                     std::vector<int> rank_names,
                                                     PeerMemory memory) {
    const auto layout =
        GRADCOLL_VALUE(ShmLayout::make(place.memory, place.rank_count, place.bytes_a_rank));
    if (rank_names.empty()) {
        rank_names.resize(static_cast<std::size_t>(place.rank_count));
        std::iota(rank_names.begin(), rank_names.end(), 0);
    }
    return std::unique_ptr<ShmChannel>(
        new ShmChannel(place, layout, rank_names, std::move(memory)));
}

std::unique_ptr<Lane> ShmChannel::open_lane(std::size_t capacity) {
    return std::make_unique<TrafficLane<ShmTraffic>>(traffic_, *this, capacity);
}

}  // namespace gradcoll
