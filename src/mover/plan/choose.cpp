// mover/plan/choose.cpp - see choose.hpp.
#include "mover/plan/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "mover/analysis/memory.hpp"
#include "mover/plan/held_memory.hpp"

namespace gradcoll::mover {
namespace {

/// After this many sweeps gaps are taken whatever they cost, so that choices that keep displacing
/// each other come to an end.
constexpr int patient_sweeps = 40;

/// Bounds gaps times operators, about the cost of a sweep in which operators wait one by one: some
/// seconds.
constexpr std::size_t most_looks = 200'000'000;

class Chooser {
  public:
    Chooser(const RankProgram& rank, const RankTimes& times, const std::vector<Gap>& gaps,
            std::int64_t most)
        : times_(times),
          gaps_(gaps),
          most_(most),
          state_(gaps.size()),
          unmoved_(held_by_operator(rank)),
          held_(unmoved_),
          is_long_(gaps.size() * rank.operators.size() > most_looks) {
        by_after_.resize(unmoved_.count() + 1);
        by_gone_from_.resize(unmoved_.count() + 1);
        for (std::size_t g = 0; g < gaps.size(); ++g) {
            by_after_[slot_after(gaps[g].after)].push_back(g);
            state_[g].must = gaps[g].must();
            if (gaps[g].in_host >= 0) state_[g].forced = {gaps[g].in_host, gaps[g].in_host + 1};
            state_[g].alone = away_alone(times, gaps[g]);
            state_[g].may_hide = state_[g].alone.is_any();
            if (state_[g].may_hide)
                by_gone_from_[static_cast<std::size_t>(state_[g].alone.gone_from)].push_back(g);
        }
    }

    Result<RankChoice> choose() {
        GRADCOLL_TRY(check_possible());
        settle();
        for (int sweep = 0; is_short(); ++sweep) {
            GRADCOLL_TRY(sweep_over(sweep < patient_sweeps));
            settle();
        }
        drop_needless();
        return choice();
    }

  private:
    struct GapState {
        Away alone;   ///< if its move had the link for itself
        Away hidden;  ///< with all chosen moves in stream order
        Away forced;  ///< at these operators it must be away, whoever waits
        bool must = false;
        bool chosen = false;    ///< part of the streams
        bool may_hide = false;  ///< whether it has not yet been found to be too late

        /// Returns from the first operator that runs without the tensor to the last; the forced
        /// part also lies in the gap.
        Away all() const {
            if (!forced.is_any()) return hidden;
            if (!hidden.is_any()) return forced;
            return {std::min(hidden.gone_from, forced.gone_from),
                    std::max(hidden.back_at, forced.back_at), hidden.sent_at};
        }
        bool is_used() const { return must || chosen || forced.is_any(); }
    };

    static HeldMemory held_by_operator(const RankProgram& rank) {
        std::vector<std::int64_t> held;
        for (const BytesByKind& bytes : memory_of(rank)) held.push_back(sum_of(bytes));
        return HeldMemory(held);
    }

    Status too_little(std::size_t op, std::int64_t bytes) const {
        return {Code::out_of_memory,
                fmt::format("operator {} needs {} bytes with all away that may be, {} are allowed",
                            op, bytes, most_)};
    }

    /// Checks that there is enough room if all gaps are used, whoever waits.
    Status check_possible() const {
        HeldMemory least = unmoved_;
        for (const Gap& gap : gaps_)
            least.add(slot_after(gap.after), static_cast<std::size_t>(gap.need), -gap.bytes);
        if (least.most(0, least.count()) <= most_) return {};
        std::size_t op = 0;
        while (least.at(op) <= most_) ++op;
        return too_little(op, least.at(op));
    }

    bool is_short() const { return held_.most(0, held_.count()) > most_; }
    bool is_short_at(std::int32_t op) const {
        return held_.at(static_cast<std::size_t>(op)) > most_;
    }

    void hold(Away away, std::int64_t bytes) {
        if (away.is_any())
            held_.add(static_cast<std::size_t>(away.gone_from),
                      static_cast<std::size_t>(away.back_at), bytes);
    }

    /// A Hidable holds pairs of need and gap; the gap that is needed last is at the top.
    using Hidable = std::priority_queue<std::pair<std::int32_t, std::size_t>>;

    Status sweep_over(bool patient) {
        Hidable hidable;
        std::vector<std::size_t> around;  // also holds some whose tensor has been needed already
        for (std::size_t n = 0; n < held_.count(); ++n) {
            const auto op = static_cast<std::int32_t>(n);
            // These gaps begin with this operator, the first after the tensor's last use.
            around.insert(around.end(), by_after_[n].begin(), by_after_[n].end());
            for (const std::size_t g : by_gone_from_[n]) hidable.emplace(gaps_[g].need, g);
            if (!is_short_at(op)) continue;
            if (patient) hide_some(op, hidable);
            if (is_short_at(op) && (!patient || !hid_any_)) GRADCOLL_TRY(force_some(op, around));
        }
        hid_any_ = false;
        return {};
    }

    /// Chooses gaps from `hidable`, whose tensors may all be gone at `op`. A gap that is looked at
    /// leaves the queue: it is chosen now, or cannot be chosen in the rest of the sweep.
    void hide_some(std::int32_t op, Hidable& hidable) {
        for (; is_short_at(op) && !hidable.empty(); hidable.pop()) {
            const std::size_t g = hidable.top().second;
            GapState& gap = state_[g];
            if (gap.is_used() || !gap.may_hide || op >= gap.alone.back_at) continue;
            gap.chosen = true;
            gap.hidden = gap.alone;
            hid_any_ = true;
            hold(gap.hidden, -gaps_[g].bytes);
        }
    }

    /// Returns how long others wait if the tensor is away while `op` runs and its move has the link
    /// for itself.
    Tick wait_of(std::size_t g, std::int32_t op) const {
        const Gap& gap = gaps_[g];
        const Tick out = gap.transfers() ? times_.end(gap.after) + gap.ticks - times_.start(op) : 0;
        const Tick in = gap.prefetches() ? times_.end(op) + gap.ticks - times_.start(gap.need) : 0;
        return std::max<Tick>(out, 0) + std::max<Tick>(in, 0);
    }

    struct Candidate {
        double wait_per_byte;
        std::int32_t need;
        std::size_t gap;
        /// Returns whether the other one is better, so that the best is at the top of a heap.
        bool operator<(const Candidate& other) const {
            return std::tuple(other.wait_per_byte, need, gap) <
                   std::tuple(wait_per_byte, other.need, other.gap);
        }
    };

    Status force_some(std::int32_t op, std::vector<std::size_t>& around) {
        std::erase_if(around, [&](std::size_t g) { return gaps_[g].need <= op; });
        std::vector<Candidate> candidates;
        for (const std::size_t g : around) {
            const Away away = state_[g].all();
            if (state_[g].is_used() && op >= away.gone_from && op < away.back_at) continue;
            candidates.push_back(
                {static_cast<double>(wait_of(g, op)) / static_cast<double>(gaps_[g].bytes),
                 gaps_[g].need, g});
        }
        std::make_heap(candidates.begin(), candidates.end());
        while (is_short_at(op) && !candidates.empty()) {
            std::pop_heap(candidates.begin(), candidates.end());
            force(candidates.back().gap, op);
            candidates.pop_back();
        }
        const std::int64_t held = held_.at(static_cast<std::size_t>(op));
        return held <= most_ ? Status() : too_little(static_cast<std::size_t>(op), held);
    }

    /// Makes the tensor stay away at `op`. In steps with very many gaps the span doubles each time,
    /// as long as that costs no more, so that a gap is looked at a few times, not once for each
    /// operator.
    void force(std::size_t g, std::int32_t op) {
        GapState& gap = state_[g];
        hold(gap.is_used() ? gap.all() : Away{}, gaps_[g].bytes);
        if (!gap.forced.is_any()) gap.forced = {op, op + 1};
        gap.forced.gone_from = std::min(gap.forced.gone_from, op);
        const std::int32_t more = is_long_ ? op - gap.forced.gone_from : 0;
        gap.forced.back_at =
            std::max({gap.forced.back_at, op + 1, std::min(op + 1 + more, gap.alone.back_at)});
        hold(gap.all(), -gaps_[g].bytes);
    }

    /// Puts all chosen gaps in stream order. A gap that is then too late is not chosen again; a
    /// forced gap is on the link as well, but is not dropped.
    void settle() {
        std::vector<std::size_t> used;
        for (std::size_t g = 0; g < gaps_.size(); ++g)
            if (state_[g].is_used()) used.push_back(g);
        const std::vector<Away> away = look_back(times_, gaps_, used);
        for (std::size_t u = 0; u < used.size(); ++u) {
            GapState& gap = state_[used[u]];
            gap.hidden = away[u];
            gap.chosen = gap.hidden.is_any();
            if (!gap.chosen) gap.may_hide = false;
        }
        held_ = unmoved_;
        for (const std::size_t g : used)
            if (state_[g].is_used()) hold(state_[g].all(), -gaps_[g].bytes);
    }

    /// Drops gaps that are not needed any more: later sweeps may have made the choices of earlier
    /// ones needless.
    void drop_needless() {
        std::vector<std::size_t> used;
        for (std::size_t g = 0; g < gaps_.size(); ++g)
            if (state_[g].is_used()) used.push_back(g);
        const auto length = [&](std::size_t g) {
            const Away away = state_[g].all();
            return away.back_at - away.gone_from;
        };
        std::stable_sort(used.begin(), used.end(),
                         [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
        for (const std::size_t g : used)
            if (!state_[g].must && is_needless(g)) {
                hold(state_[g].all(), gaps_[g].bytes);
                state_[g].chosen = false;
                state_[g].forced = {};
            }
    }
    bool is_needless(std::size_t g) const {
        const Away away = state_[g].all();
        return held_.most(static_cast<std::size_t>(away.gone_from),
                          static_cast<std::size_t>(away.back_at)) +
                   gaps_[g].bytes <=
               most_;
    }

    /// A forced gap's tensor has to be gone in time, whatever else holds the lane.
    static ChosenMove chosen_move(const Gap& gap, const Away& away) {
        const std::int32_t first = gap.after + 1;
        return {gap, away.back_at,
                away.is_any() ? std::clamp(away.sent_at, first, std::max(first, away.gone_from))
                              : first};
    }

    RankChoice choice() const {
        RankChoice out;
        for (std::size_t g = 0; g < gaps_.size(); ++g)
            if (state_[g].is_used()) out.push_back(chosen_move(gaps_[g], state_[g].all()));
        return out;
    }

    const RankTimes& times_;
    const std::vector<Gap>& gaps_;
    std::int64_t most_;
    std::vector<GapState> state_;
    HeldMemory unmoved_;  ///< held bytes with nothing moved
    HeldMemory held_;
    std::vector<std::vector<std::size_t>> by_after_;      ///< index: after + 1
    std::vector<std::vector<std::size_t>> by_gone_from_;  ///< index: alone.gone_from
    bool is_long_;
    bool hid_any_ = false;
};

}  // namespace

Result<RankChoice> choose_moves(const RankProgram& rank, const RankTimes& times,
                                const std::vector<Gap>& gaps, std::int64_t most_bytes_held) {
    return Chooser(rank, times, gaps, most_bytes_held).choose();
}

}  // namespace gradcoll::mover
