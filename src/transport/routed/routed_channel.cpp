#include "transport/routed/routed_channel.hpp"

#include <utility>

#include "transport/routed/routed_lane.hpp"

namespace gradcoll {

Result<std::unique_ptr<RoutedChannel>> RoutedChannel::make(std::unique_ptr<MpiChannel> mpi,
                                                           Host host, PeerMemory memory) {
    std::unique_ptr<RoutedChannel> made(new RoutedChannel(std::move(mpi), std::move(host.segment)));
    made->places_.assign(static_cast<std::size_t>(made->rank_count()), -1);
    for (std::size_t place = 0; place < host.ranks.size(); ++place)
        made->places_[static_cast<std::size_t>(host.ranks[place])] = static_cast<int>(place);
    const SharedSegment& segment = *made->segment_;
    const auto ranks_here = static_cast<int>(host.ranks.size());
    auto shm =
        ShmChannel::make({segment.data(), segment.bytes_a_rank(), host.own_place, ranks_here},
                         std::move(host.ranks), std::move(memory));
    if (!shm.ok()) return shm.status();
    made->shm_ = std::move(shm).value();
    return made;
}

std::unique_ptr<Lane> RoutedChannel::open_lane(std::size_t capacity) {
    return std::make_unique<RoutedLane>(
        *this,
        RoutedLane::Ways{shm_->open_lane(capacity), mpi_->open_lane(capacity), places_,
                         mpi_->comm()},
        capacity);
}

}  // namespace gradcoll
