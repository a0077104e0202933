#include "api/comm/way_trials.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Machines vary; ours is taken if there is no more to gain than that.
constexpr double worth_passing = 1.1;
/// Half of the calls are enough to tell.
constexpr double clear = 1.25;

/// The two ways take turns in both orders, so that what changes with time does not matter.
TriedWay way_of_turn(int turn) {
    return turn % 4 == 0 || turn % 4 == 3 ? TriedWay::mpi : TriedWay::ours;
}

}  // namespace

void WayTrials::begin(const TriedWays& known, bool tries) {
    *this = {};
    known_ = known;
    tries_ = tries;
    is_on_ = tries || std::any_of(known.begin(), known.end(),
                                  [](TriedWay way) { return way == TriedWay::mpi; });
}

std::size_t WayTrials::bin_of(std::uint64_t vector_bytes) {
    return static_cast<std::size_t>(std::bit_width(vector_bytes | 1) - 1);
}

WayTrials::Size WayTrials::size_of(std::uint64_t vector_bytes) {
    const std::uint64_t first = std::bit_floor(vector_bytes | 1);
    return {first, first << 1};
}

bool WayTrials::tries(std::uint64_t vector_bytes) const {
    return tries_ && known_[bin_of(vector_bytes)] == TriedWay::unknown;
}

bool WayTrials::has_begun(std::uint64_t vector_bytes) const {
    return trials_[bin_of(vector_bytes)].calls > 0;
}

TriedWay WayTrials::next(std::uint64_t vector_bytes) const {
    if (tries(vector_bytes)) return way_of_turn(trials_[bin_of(vector_bytes)].calls);
    return known_[bin_of(vector_bytes)] == TriedWay::mpi ? TriedWay::mpi : TriedWay::ours;
}

Result<std::optional<TrialTimes>> WayTrials::add(MPI_Comm comm, std::uint64_t vector_bytes,
                                                 TriedWay way, std::uint64_t elapsed_ns) {
    const std::size_t bin = bin_of(vector_bytes);
    Trial& trial = trials_[bin];
    if (!tries(vector_bytes) || way != way_of_turn(trial.calls)) return std::optional<TrialTimes>();
    // Sizes of one bin differ.
    trial.times_ns[static_cast<std::size_t>(trial.calls++)] =
        static_cast<double>(elapsed_ns) / static_cast<double>(vector_bytes);
    if (trial.calls != most_calls / 2 && trial.calls != most_calls)
        return std::optional<TrialTimes>();

    std::array<double, most_calls> times = trial.times_ns;
    GRADCOLL_TRY(
        from_mpi(PMPI_Allreduce(MPI_IN_PLACE, times.data(), trial.calls, MPI_DOUBLE, MPI_SUM, comm),
                 "MPI_Allreduce"));
    int ranks = 1;
    PMPI_Comm_size(comm, &ranks);
    const double to_ns = static_cast<double>(vector_bytes) / ranks;
    const auto fastest = [&](TriedWay one) {
        double least = 0;
        for (int turn = 0; turn < trial.calls; ++turn) {
            const double time = times[static_cast<std::size_t>(turn)];
            if (way_of_turn(turn) == one && (least <= 0 || time < least)) least = time;
        }
        return least * to_ns;
    };
    const TrialTimes found{fastest(TriedWay::ours), fastest(TriedWay::mpi)};
    const double gain = found.mpi_ns > 0 ? found.ours_ns / found.mpi_ns : 0;
    const bool is_clear = gain > clear || gain < 1 / clear;
    if (trial.calls < most_calls && !is_clear) return std::optional<TrialTimes>();
    known_[bin] = gain > worth_passing ? TriedWay::mpi : TriedWay::ours;
    return std::optional(found);
}

bool is_surely_faster(const Tree& tree, const Tuning& tuning, std::int64_t vector_bytes,
                      double ours_us) {
    if (ours_us <= 0 || !knows_links(tree)) return false;
    std::vector<int> order(static_cast<std::size_t>(tree.rank_count()));
    std::iota(order.begin(), order.end(), 0);
    PlanSpec bytes;
    bytes.type = ElementType::u8;
    bytes.elem_bytes = 1;
    bytes.count_elems = vector_bytes;
    const Forecast ring = forecast_flat_ring(tree, tuning, order, bytes, CodecId::exact);
    return ring.slowest_link_us > clear * ours_us;
}

}  // namespace gradcoll
