// mover/plan/look_back.cpp - see look_back.hpp.
#include "mover/plan/look_back.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gradcoll::mover {

RankTimes::RankTimes(const RankProgram& rank, const std::vector<Tick>& starts) : starts_(starts) {
    ends_.reserve(starts.size());
    for (std::size_t n = 0; n < starts.size(); ++n)
        ends_.push_back(starts[n] + rank.operators[n].duration);
}

std::int32_t RankTimes::first_from(Tick tick) const {
    return static_cast<std::int32_t>(std::lower_bound(starts_.begin(), starts_.end(), tick) -
                                     starts_.begin());
}

std::int32_t RankTimes::last_let_go(Tick tick) const {
    return static_cast<std::int32_t>(std::upper_bound(ends_.begin(), ends_.end(), tick) -
                                     ends_.begin());
}

Away away_alone(const RankTimes& times, const Gap& gap) {
    const Tick gone = times.end(gap.after) + gap.ticks;
    const Tick back = times.start(gap.need) - gap.ticks;
    if (back < gone) return {};
    return {std::max(gap.after + 1, times.first_from(gone)),
            std::min(gap.need, times.last_let_go(back))};
}

std::vector<Away> look_back(const RankTimes& times, const std::vector<Gap>& gaps,
                            const std::vector<std::size_t>& chosen) {
    std::vector<Away> away(chosen.size());
    std::vector<Tick> gone(chosen.size());
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto gap_at = [&](std::size_t c) -> const Gap& { return gaps[chosen[c]]; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(gap_at(a).after, gap_at(a).tensor) <
               std::pair(gap_at(b).after, gap_at(b).tensor);
    });
    Tick link_free = 0;
    for (const std::size_t c : order) {
        gone[c] = link_free = std::max(link_free, times.end(gap_at(c).after)) + gap_at(c).ticks;
        away[c].gone_from = std::max(gap_at(c).after + 1, times.first_from(gone[c]));
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(gap_at(a).need, gap_at(a).tensor) >
               std::pair(gap_at(b).need, gap_at(b).tensor);
    });
    Tick next = std::numeric_limits<Tick>::max();
    for (const std::size_t c : order) {
        const Tick start = std::min(times.start(gap_at(c).need), next) - gap_at(c).ticks;
        const std::int32_t back = std::min(gap_at(c).need, times.last_let_go(start));
        if (start < gone[c] || back <= away[c].gone_from) {
            away[c] = {};
            continue;
        }
        away[c].back_at = back;
        next = start;
    }
    return away;
}

}  // namespace gradcoll::mover
