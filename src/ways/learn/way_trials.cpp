#include "ways/learn/way_trials.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// Times vary from call to call, so our way stays if there is no more to gain than this.
constexpr double worth_passing = 1.1;
/// If times differ by so much, half of the pairs are enough to tell; a forecast is, too.
constexpr double clear = 1.25;

}  // namespace

void WayTrials::begin(const TriedWays& known, bool tries) {
    *this = {};
    known_ = known;
    if (tries) trials_.resize(known.size());
    is_on_ = tries || std::any_of(known.begin(), known.end(),
                                  [](TriedWay way) { return way == TriedWay::other; });
}

std::size_t WayTrials::bin_of(std::uint64_t vector_bytes) {
    return static_cast<std::size_t>(std::bit_width(vector_bytes | 1) - 1);
}

WayTrials::Size WayTrials::size_of(std::uint64_t vector_bytes) {
    const std::uint64_t first = std::bit_floor(vector_bytes | 1);
    return {first, first << 1};
}

bool WayTrials::tries(std::uint64_t vector_bytes) const {
    return !trials_.empty() && known_[bin_of(vector_bytes)] == TriedWay::unknown;
}

bool WayTrials::is_about_to_begin(std::uint64_t vector_bytes) const {
    if (!tries(vector_bytes)) return false;
    const Trial& trial = trials_[bin_of(vector_bytes)];
    return trial.times == 0 && trial.is_others_turn();
}

TriedWay WayTrials::next(std::uint64_t vector_bytes) const {
    const std::size_t bin = bin_of(vector_bytes);
    const bool by_mpi =
        tries(vector_bytes) ? trials_[bin].is_others_turn() : known_[bin] == TriedWay::other;
    return by_mpi ? TriedWay::other : TriedWay::ours;
}

double WayTrials::Trial::fastest_ns(TriedWay way) const {
    double least = 0;
    for (int i = way == TriedWay::other ? 0 : 1; i < times; i += 2) {
        const double time = times_ns[static_cast<std::size_t>(i)];
        if (least <= 0 || time < least) least = time;
    }
    return least;
}

Result<std::optional<TrialTimes>> WayTrials::add(MPI_Comm comm, std::uint64_t vector_bytes,
                                                 TriedWay way, std::uint64_t elapsed_ns) {
    constexpr auto nothing = std::optional<TrialTimes>();
    if (!tries(vector_bytes) || way != next(vector_bytes)) return nothing;
    Trial& trial = trials_[bin_of(vector_bytes)];
    if (way == TriedWay::ours && trial.times % 2 == 0) {
        ++trial.calls_before;
        return nothing;
    }
    trial.times_ns[static_cast<std::size_t>(trial.times++)] =
        static_cast<double>(elapsed_ns) / static_cast<double>(vector_bytes);
    if (way == TriedWay::other) return nothing;
    trial.calls_before = 0;
    if (trial.times != most_pairs && trial.times != 2 * most_pairs) return nothing;

    Trial sums = trial;
    GRADCOLL_TRY(allreduce_going_on(sums.times_ns.data(), sums.times, MPI_DOUBLE, MPI_SUM, comm));
    const int ranks = comm_size(comm);
    const double to_ns = static_cast<double>(vector_bytes) / ranks;
    const TrialTimes found{sums.fastest_ns(TriedWay::ours) * to_ns,
                           sums.fastest_ns(TriedWay::other) * to_ns};
    const double gain = found.other_ns > 0 ? found.ours_ns / found.other_ns : 0;
    const bool is_clear = gain > clear || gain < 1 / clear;
    if (trial.times < 2 * most_pairs && !is_clear) return nothing;
    known_[bin_of(vector_bytes)] = gain > worth_passing ? TriedWay::other : TriedWay::ours;
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
