// mover/plan/ladder.cpp - see ladder.hpp.
#include "mover/plan/ladder.hpp"

#include <algorithm>
#include <numeric>

#include "mover/analysis/timeline.hpp"

namespace gradcoll::mover {

/// Around finds the gap of the highest worth among those around an operator that are not used yet.
/// It is a tree over operators: each gap stands in the nodes that cover its window.
class Ladder::Around {
  public:
    /// `order` has the gaps, those of the highest worth first.
    Around(std::size_t operators, const std::vector<Window>& windows,
           const std::vector<std::size_t>& order)
        : order_(order), used_(order.size()) {
        while (leaves_ < operators) leaves_ *= 2;
        places_.resize(2 * leaves_);
        next_.resize(2 * leaves_);
        for (std::size_t place = 0; place < order.size(); ++place)
            add(windows[order[place]], place);
    }

    void use(std::size_t place) { used_[place] = 1; }

    /// Returns the place of that gap in the order; the number of gaps if there is none.
    std::size_t best_at(std::size_t op) {
        std::size_t best = order_.size();
        for (std::size_t node = op + leaves_; node > 0; node /= 2) {
            std::size_t& next = next_[node];
            while (next < places_[node].size() && used_[places_[node][next]]) ++next;
            if (next < places_[node].size()) best = std::min(best, places_[node][next]);
        }
        return best;
    }

  private:
    void add(const Window& window, std::size_t place) {
        std::size_t left = window.from + leaves_, right = window.end + leaves_;
        for (; left < right; left /= 2, right /= 2) {
            if (left % 2 == 1) places_[left++].push_back(place);
            if (right % 2 == 1) places_[--right].push_back(place);
        }
    }

    const std::vector<std::size_t>& order_;
    std::vector<char> used_;
    std::size_t leaves_ = 1;
    std::vector<std::vector<std::size_t>> places_;
    std::vector<std::size_t> next_;
};

Ladder::Ladder(const RankProgram& rank, const std::vector<Tick>& starts, const HeldMemory& unmoved,
               std::vector<Gap> gaps, Pattern pattern)
    : rank_(rank), starts_(starts), gaps_(std::move(gaps)), pattern_(pattern), unmoved_(unmoved) {
    for (const Gap& gap : gaps_) windows_.push_back(window_of(gap));
    by_window_.resize(gaps_.size());
    std::iota(by_window_.begin(), by_window_.end(), std::size_t{0});
    by_need_ = by_window_;
    std::stable_sort(by_window_.begin(), by_window_.end(), [&](std::size_t a, std::size_t b) {
        return windows_[a].end - windows_[a].from < windows_[b].end - windows_[b].from;
    });
    std::stable_sort(by_need_.begin(), by_need_.end(),
                     [&](std::size_t a, std::size_t b) { return gaps_[a].need < gaps_[b].need; });
    climb();
}

/// Returns the operators that run without the tensor. What must move is away wherever it may be.
Ladder::Window Ladder::window_of(const Gap& gap) const {
    const std::int32_t first = gap.after + 1, last = gap.need;
    if (gap.must()) return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
    // At the step's begin nothing is in the way of a TRANSFER.
    const std::int32_t gone = std::min(first + (gap.after < 0 ? 0 : pattern_.gone), last - 1);
    const std::int32_t back = std::max(last - pattern_.back, gone + 1);
    return {static_cast<std::size_t>(gone), static_cast<std::size_t>(back)};
}

Tick Ladder::length_of(const Gap& gap) const {
    const auto need = static_cast<std::size_t>(gap.need);
    const Tick until = need < starts_.size() ? starts_[need] : end_of(rank_, starts_, gap.need - 1);
    return until - end_of(rank_, starts_, gap.after);
}

double Ladder::worth_of(const Gap& gap) const {
    const auto length = static_cast<double>(length_of(gap));
    switch (pattern_.prefer) {
        case Prefer::longest:
            return length;
        case Prefer::longest_per_byte:
            return length / static_cast<double>(gap.bytes);
        case Prefer::oldest:
            return -static_cast<double>(gap.after);
    }
    return 0;
}

void Ladder::hold(HeldMemory& held, std::size_t g, std::int64_t sign) const {
    held.add(windows_[g].from, windows_[g].end, sign * gaps_[g].bytes);
}

void Ladder::climb() {
    std::vector<double> worth;
    for (const Gap& gap : gaps_) worth.push_back(worth_of(gap));
    order_.resize(gaps_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
    HeldMemory held = unmoved_;
    Around around(held.count(), windows_, order_);
    for (std::size_t place = 0; place < order_.size(); ++place) {
        if (!gaps_[order_[place]].must()) continue;
        around.use(place);
        hold(held, order_[place], -1);
    }
    needs_.push_back(held.most(0, held.count()));
    while (held.count() > 0) {
        const std::size_t place = around.best_at(held.first_of_most());
        if (place == order_.size()) return;
        around.use(place);
        used_.push_back(order_[place]);
        hold(held, order_[place], -1);
        needs_.push_back(held.most(0, held.count()));
    }
}

HeldMemory Ladder::held_without(const std::vector<char>& used) const {
    std::vector<std::int64_t> less(unmoved_.count() + 1);
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
        if (used[g] == 0 || windows_[g].from >= windows_[g].end) continue;
        less[windows_[g].from] += gaps_[g].bytes;
        less[windows_[g].end] -= gaps_[g].bytes;
    }
    less.pop_back();
    std::partial_sum(less.begin(), less.end(), less.begin());
    for (std::size_t op = 0; op < less.size(); ++op) less[op] = unmoved_.at(op) - less[op];
    return HeldMemory(less);
}

/// Uses gaps around the operator that needs most, until none needs more than `bytes`: of those that
/// have no more bytes than are missing the one of the highest worth; without any, the smallest.
void Ladder::use_fitting(HeldMemory& held, std::vector<char>& used, std::int64_t bytes) const {
    for (;;) {
        const std::size_t op = held.first_of_most(), none = gaps_.size();
        const std::int64_t missing = held.at(op) - bytes;
        if (missing <= 0) return;
        std::size_t best = none;
        for (const std::size_t g : order_) {
            if (used[g] != 0 || windows_[g].from > op || windows_[g].end <= op) continue;
            if (best == none || gaps_[g].bytes < gaps_[best].bytes) best = g;
            if (gaps_[g].bytes > missing) continue;
            best = g;
            break;
        }
        if (best == none) return;
        used[best] = 1;
        hold(held, best, -1);
    }
}

void Ladder::drop_needless(HeldMemory& held, std::vector<char>& used, std::int64_t bytes) const {
    for (const std::size_t g : by_window_) {
        if (used[g] == 0 || gaps_[g].must()) continue;
        if (held.most(windows_[g].from, windows_[g].end) + gaps_[g].bytes > bytes) continue;
        used[g] = 0;
        hold(held, g, 1);
    }
}

/// Returns the first operator from which on there is room for the tensor until its need, and takes
/// that room.
std::int32_t Ladder::back_from(HeldMemory& held, std::size_t g, std::int64_t bytes) const {
    const Gap& gap = gaps_[g];
    const std::size_t first = held.at_most_from(std::max(windows_[g].from, slot_after(gap.in_host)),
                                                windows_[g].end, bytes - gap.bytes);
    held.add(first, windows_[g].end, gap.bytes);
    return static_cast<std::int32_t>(first);
}

/// Brings tensors that live in the host, and are back as the step begins, back at the end of the
/// step before, in the order of their needs.
void Ladder::fetch_ahead(HeldMemory& held, std::int64_t bytes,
                         std::vector<std::int32_t>& back) const {
    for (const std::size_t g : by_need_) {
        if (gaps_[g].part != GapPart::head || back[g] != 0) continue;
        std::size_t tail = g + 1;  // gaps are in the order of tensors, and of a tensor's uses
        while (gaps_[tail].part != GapPart::tail) ++tail;
        const std::int32_t ahead = back_from(held, tail, bytes);
        if (ahead < gaps_[tail].need) back[g] = ahead;
    }
}

std::int64_t Ladder::need_within(std::int64_t bytes) const {
    const auto rung = std::partition_point(needs_.begin(), needs_.end(),
                                           [&](std::int64_t need) { return need > bytes; });
    return rung == needs_.end() ? least() : *rung;
}

RankChoice Ladder::choice_for(std::int64_t bytes) const {
    std::vector<char> used(gaps_.size());
    for (std::size_t g = 0; g < gaps_.size(); ++g) used[g] = gaps_[g].must() ? 1 : 0;
    if (pattern_.sizes != Sizes::fitted) {
        const auto rung = std::partition_point(needs_.begin(), needs_.end(),
                                               [&](std::int64_t need) { return need > bytes; });
        for (auto g = used_.begin(); g != used_.begin() + (rung - needs_.begin()); ++g)
            used[*g] = 1;
    }
    HeldMemory held = held_without(used);
    if (pattern_.sizes == Sizes::fitted) use_fitting(held, used, bytes);
    drop_needless(held, used, bytes);
    std::vector<std::int32_t> back(gaps_.size());
    for (const std::size_t g : by_need_)
        if (used[g] != 0 && gaps_[g].prefetches()) back[g] = back_from(held, g, bytes);
    if (pattern_.ahead) fetch_ahead(held, bytes, back);
    RankChoice choice;
    for (std::size_t g = 0; g < gaps_.size(); ++g)
        if (used[g] != 0) choice.push_back({gaps_[g], back[g]});
    return choice;
}

}  // namespace gradcoll::mover
