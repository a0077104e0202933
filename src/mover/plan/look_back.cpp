// mover/plan/look_back.cpp - see look_back.hpp.
#include "mover/plan/look_back.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gradcoll::mover {

RankTimes::RankTimes(const RankProgram& rank, const std::vector<Tick>& starts) : starts_(starts) {
    ends_.reserve(starts.size());
    for (std::size_t n = 0; n < starts.size(); ++n) {
        ends_.push_back(starts[n] + rank.operators[n].duration);
        if (rank.operators[n].holds_lane && ends_[n] > starts[n])
            held_.push_back({starts[n], ends_[n]});
    }
}

Tick RankTimes::clear_from(Tick tick, Tick ticks) const {
    auto held = std::upper_bound(held_.begin(), held_.end(), tick,
                                 [](Tick at, const Span& span) { return at < span.end; });
    for (; held != held_.end() && held->start < tick + ticks; ++held) tick = held->end;
    return tick;
}

Tick RankTimes::clear_before(Tick tick, Tick ticks) const {
    auto held = std::lower_bound(held_.begin(), held_.end(), tick,
                                 [](const Span& span, Tick at) { return span.start < at; });
    for (; held != held_.begin() && std::prev(held)->end > tick - ticks; --held)
        tick = std::prev(held)->start;
    return tick - ticks;
}

std::int32_t RankTimes::first_from(Tick tick) const {
    return static_cast<std::int32_t>(std::lower_bound(starts_.begin(), starts_.end(), tick) -
                                     starts_.begin());
}

std::int32_t RankTimes::last_let_go(Tick tick) const {
    return static_cast<std::int32_t>(std::upper_bound(ends_.begin(), ends_.end(), tick) -
                                     ends_.begin());
}

namespace {

/// Returns when the tensor has gone, if its TRANSFER cannot start before `free`; a head has gone
/// before the step.
Tick gone_by(const RankTimes& times, const Gap& gap, Tick free, Away& away) {
    if (!gap.transfers()) return 0;
    const Tick ready = std::max(free, times.end(gap.after));
    const Tick start = times.clear_from(ready, gap.ticks);
    away.sent_at = start > ready ? times.last_let_go(start) : gap.after + 1;
    away.gone_from = std::max(gap.after + 1, times.first_from(start + gap.ticks));
    return start + gap.ticks;
}

/// Returns the start of a PREFETCH that ends at `latest` or before.
Tick back_by(const RankTimes& times, const Gap& gap, Tick latest, Away& away) {
    const Tick start = times.clear_before(latest, gap.ticks);
    away.back_at = std::min(gap.need, times.last_let_go(start));
    return start;
}

}  // namespace

Away away_alone(const RankTimes& times, const Gap& gap) {
    Away away;
    const Tick gone = gone_by(times, gap, 0, away);
    away.back_at = gap.need;
    if (gap.prefetches() && back_by(times, gap, times.start(gap.need), away) < gone) return {};
    return away;
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
        gone[c] = gone_by(times, gap_at(c), link_free, away[c]);
        link_free = std::max(link_free, gone[c]);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(gap_at(a).need, gap_at(a).tensor) >
               std::pair(gap_at(b).need, gap_at(b).tensor);
    });
    Tick next = std::numeric_limits<Tick>::max();
    for (const std::size_t c : order) {
        const Gap& gap = gap_at(c);
        if (!gap.prefetches()) {
            away[c].back_at = gap.need;
            continue;
        }
        const Tick start = back_by(times, gap, std::min(times.start(gap.need), next), away[c]);
        if (start < gone[c] || !away[c].is_any())
            away[c] = {};
        else
            next = start;
    }
    return away;
}

}  // namespace gradcoll::mover
