#include "nic/transport/nic_channel.hpp"

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/mpi/exchange.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/traffic_lane.hpp"

namespace gradcoll {
namespace {

/// At least this many tags have to be left, as many as MPI promises: others rely on that (MPI 3.1,
/// 8.1.2).
constexpr int least_tag_limit = 32767;

}  // namespace

NicChannel::NicChannel(AgentConnection agent, Place place, int detour_tag)
    : rank_(static_cast<int>(place.rank)),
      tag_limit_(detour_tag - 1),
      comm_(place.comm),
      hosts_(static_cast<int>(place.hosts)),
      encodes_(place.encodes),
      sums_(place.least_summed_bytes > 0),
      least_summed_bytes_(place.least_summed_bytes),
      traffic_(std::move(agent), place.rank, std::move(place.peers),
               std::make_unique<MpiDetour>(place.comm, detour_tag, place.group)) {
    PMPI_Comm_size(place.comm, &rank_count_);
}

Result<std::unique_ptr<NicChannel>> NicChannel::make(AgentConnection agent, Place place) {
    const auto direct = GRADCOLL_VALUE(MpiChannel::make(place.comm));
    if (direct->tag_limit() <= least_tag_limit)
        return Status(Code::unsupported, "the MPI library has no tag to spare");
    return std::unique_ptr<NicChannel>(
        new NicChannel(std::move(agent), std::move(place), direct->tag_limit()));
}

/// Sums what the agents can, and lets ranks agree on what all of them have: what is missing they
/// can only make up for together.
Result<SumOutcome> NicChannel::sum(const SumRequest& request) {
    traffic_.sum(request);
    // MPICH 4.0 takes the largest unsigned numbers for negative ones.
    constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
    std::int64_t refusal = nobody;
    if (request.refusal != Code::ok)
        refusal = std::int64_t{rank_} << 8 | static_cast<std::uint8_t>(request.refusal);
    const std::array mine{static_cast<std::int64_t>(traffic_.sums().pieces_done()), refusal};
    const auto least = GRADCOLL_VALUE(combined(comm_, MPI_MIN, mine));
    SumOutcome outcome;
    outcome.done = traffic_.give_back_behind(static_cast<std::uint64_t>(least[0]));
    sums_ &= outcome.done == request.count;
    const SentOfSums sent = traffic_.take_sent_of_sums();
    outcome.sent_bytes = sent.bytes;
    outcome.sent_exact_bytes = sent.exact_bytes;
    if (least[1] != nobody)
        outcome.refusal =
            Failure{static_cast<int>(least[1] >> 8), static_cast<Code>(least[1] & 0xff)};
    return outcome;
}

std::unique_ptr<Lane> NicChannel::open_lane(std::size_t capacity) {
    return std::make_unique<TrafficLane<NicTraffic>>(traffic_, *this, capacity);
}

}  // namespace gradcoll
