#include "engine/link_watch.hpp"

#include <algorithm>

namespace gradcoll {
namespace {

constexpr std::size_t least_sums = 8;
/// A while ends after this many sums if no gradient ever comes again.
constexpr std::size_t most_sums = 1024;
constexpr std::size_t most_whiles_to_believe = 64;
/// A while is far off beyond these factors. The model is right within two, and what is said of
/// links mostly; so at first more is needed.
constexpr double far_from_said = 3;
constexpr double far_from_usual = 2;
/// Plans are not made anew for less.
constexpr double worth_planning = 1.5;

bool are_far(double a, double b, double times) {
    return a > b * times || b > a * times;
}

}  // namespace

bool LinkWatch::is_over(std::uint32_t gradient) const {
    return while_.ended >= least_sums && (gradient == while_.first || while_.sums >= most_sums);
}

std::optional<double> LinkWatch::begun(std::uint32_t gradient, std::uint64_t now_ns,
                                       std::uint64_t worked_ns) {
    std::optional<double> news;
    if (is_over(gradient)) {
        if (running_ > 0) while_.ran_ns += now_ns - running_since_ns_;
        running_since_ns_ = now_ns;
        news = judge(worked_ns);
        while_ = {};
    }
    if (while_.sums++ == 0) {
        while_.first = gradient;
        while_.worked_from_ns = worked_ns;
    }
    if (running_++ == 0) running_since_ns_ = now_ns;
    return news;
}

void LinkWatch::ended(const ExpectedTime& expected, std::uint64_t now_ns) {
    ++while_.ended;
    while_.expected.links_us += expected.links_us;
    while_.expected.latency_us += expected.latency_us;
    if (--running_ == 0) while_.ran_ns += now_ns - running_since_ns_;
}

/// Returns what links carry, if the while tells it: if something else than links took the time, it
/// says nothing of them.
std::optional<double> LinkWatch::judge(std::uint64_t worked_ns) {
    const double ran_us = static_cast<double>(while_.ran_ns) * 1e-3;
    if (ran_us <= 0) return {};
    const double carried = while_.expected.links_us / ran_us;
    const double usual = usual_.value_or(planned_for_);
    const double far = usual_ ? far_from_usual : far_from_said;
    Side side = Side::alike;
    if (are_far(carried, usual, far)) side = carried < usual ? Side::less : Side::more;
    const double worked_us = static_cast<double>(worked_ns - while_.worked_from_ns) * 1e-3;
    if (side == Side::less && 2 * std::max(worked_us, while_.expected.latency_us) > ran_us)
        return {};
    if (side != side_) said_.clear();
    side_ = side;
    said_.push_back(carried);
    return said_.size() < whiles_to_believe_ ? std::nullopt : believe(side);
}

std::optional<double> LinkWatch::believe(Side side) {
    const auto middle = said_.begin() + static_cast<std::ptrdiff_t>(said_.size() / 2);
    std::nth_element(said_.begin(), middle, said_.end());
    const double carried = *middle;
    said_.clear();
    if (side == Side::alike && usual_) return {};
    usual_ = carried;
    if (side == Side::alike || !are_far(carried, planned_for_, worth_planning)) return {};
    whiles_to_believe_ = std::min(2 * whiles_to_believe_, most_whiles_to_believe);
    planned_for_ = carried;
    return carried;
}

}  // namespace gradcoll
