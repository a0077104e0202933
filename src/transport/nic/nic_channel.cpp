#include "transport/nic/nic_channel.hpp"

#include <memory>
#include <utility>

#include "transport/mpi/mpi_channel.hpp"
#include "transport/traffic_lane.hpp"

namespace gradcoll {
namespace {

/// What is left has to be as much as MPI promises: others rely on that (MPI 3.1, 8.1.2).
constexpr int least_tag_limit = 32767;

}  // namespace

NicChannel::NicChannel(AgentConnection agent, Place place, int detour_tag)
    : tag_limit_(detour_tag - 1),
      encodes_(place.encodes),
      traffic_(std::move(agent), std::move(place.peers),
               std::make_unique<MpiDetour>(place.comm, detour_tag, place.group)) {
    PMPI_Comm_rank(place.comm, &rank_);
    PMPI_Comm_size(place.comm, &rank_count_);
}

Result<std::unique_ptr<NicChannel>> NicChannel::make(AgentConnection agent, Place place) {
    const auto direct = GRADCOLL_VALUE(MpiChannel::make(place.comm));
    if (direct->tag_limit() <= least_tag_limit)
        return Status(Code::unsupported, "the MPI library has no tag to spare");
    return std::unique_ptr<NicChannel>(
        new NicChannel(std::move(agent), std::move(place), direct->tag_limit()));
}

std::unique_ptr<Lane> NicChannel::open_lane(std::size_t capacity) {
    return std::make_unique<TrafficLane<NicTraffic>>(traffic_, *this, capacity);
}

}  // namespace gradcoll
