// mover/plan/choose.cpp - see choose.hpp.
#include "mover/plan/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mover/analysis/memory.hpp"

namespace gradcoll::mover {
namespace {

/// After so many sweeps gaps are taken whatever they cost; choices that shift each other end then.
constexpr int patient_sweeps = 40;

class Chooser {
  public:
    Chooser(const RankProgram& rank, const RankTimes& times, const std::vector<Gap>& gaps,
            std::int64_t most)
        : times_(times), gaps_(gaps), most_(most), state_(gaps.size()) {
        for (const BytesByKind& bytes : memory_of(rank)) unmoved_.push_back(sum_of(bytes));
        by_after_.resize(unmoved_.size() + 1);
        for (std::size_t g = 0; g < gaps.size(); ++g) {
            by_after_[slot_after(gaps[g].after)].push_back(g);
            state_[g].alone = away_alone(times, gaps[g]);
            state_[g].may_hide = state_[g].alone.is_any();
        }
    }

    Result<RankChoice> choose() {
        held_ = unmoved_;
        for (int sweep = 0; is_short(); ++sweep) {
            GRADCOLL_TRY(sweep_over(sweep < patient_sweeps));
            settle();
        }
        drop_needless();
        return choice();
    }

  private:
    struct GapState {
        Away alone;             ///< with the link for itself
        Away hidden;            ///< in stream order
        Away forced;            ///< whoever waits
        bool chosen = false;    ///< in the streams
        bool may_hide = false;  ///< not yet found to be too late

        /// From the first that runs without it to the last; the forced part lies in the gap, too.
        Away all() const {
            if (!forced.is_any()) return hidden;
            if (!hidden.is_any()) return forced;
            return {std::min(hidden.gone_from, forced.gone_from),
                    std::max(hidden.back_at, forced.back_at)};
        }
        bool is_used() const { return chosen || forced.is_any(); }
    };

    bool is_short() const {
        return std::any_of(held_.begin(), held_.end(),
                           [&](std::int64_t bytes) { return bytes > most_; });
    }

    void hold(Away away, std::int64_t bytes) {
        for (std::int32_t n = away.gone_from; n < away.back_at; ++n)
            held_[static_cast<std::size_t>(n)] += bytes;
    }

    /// Gaps around the operator at hand, the last needed first.
    using Around = std::set<std::pair<std::int32_t, std::size_t>, std::greater<>>;

    Status sweep_over(bool patient) {
        Around around;
        for (std::size_t n = 0; n < held_.size(); ++n) {
            const auto op = static_cast<std::int32_t>(n);
            // Gaps that begin with this operator: it is the first after their last use.
            for (const std::size_t g : by_after_[n]) around.emplace(gaps_[g].need, g);
            while (!around.empty() && around.rbegin()->first <= op)
                around.erase(std::prev(around.end()));
            if (held_[n] <= most_) continue;
            if (patient) hide_some(op, around);
            if (held_[n] > most_ && (!patient || !hid_any_)) GRADCOLL_TRY(force_some(op, around));
        }
        hid_any_ = false;
        return {};
    }

    void hide_some(std::int32_t op, const Around& around) {
        for (const auto& [need, g] : around) {
            if (held_[static_cast<std::size_t>(op)] <= most_) return;
            GapState& gap = state_[g];
            if (gap.is_used() || !gap.may_hide || op < gap.alone.gone_from ||
                op >= gap.alone.back_at)
                continue;
            gap.chosen = true;
            gap.hidden = gap.alone;
            hid_any_ = true;
            hold(gap.hidden, -gaps_[g].bytes);
        }
    }

    /// How long others wait if the tensor is away while `op` runs, with the link for itself.
    Tick wait_of(std::size_t g, std::int32_t op) const {
        const Gap& gap = gaps_[g];
        const Tick out = times_.end(gap.after) + gap.ticks - times_.start(op);
        const Tick in = times_.end(op) + gap.ticks - times_.start(gap.need);
        return std::max<Tick>(out, 0) + std::max<Tick>(in, 0);
    }

    Status force_some(std::int32_t op, const Around& around) {
        struct Candidate {
            double wait_per_byte;
            std::size_t gap;
        };
        std::vector<Candidate> candidates;
        for (const auto& [need, g] : around) {
            const Away away = state_[g].all();
            if (state_[g].is_used() && op >= away.gone_from && op < away.back_at) continue;
            candidates.push_back(
                {static_cast<double>(wait_of(g, op)) / static_cast<double>(gaps_[g].bytes), g});
        }
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) {
                             return a.wait_per_byte < b.wait_per_byte;
                         });
        for (const Candidate& candidate : candidates) {
            if (held_[static_cast<std::size_t>(op)] <= most_) return {};
            force(candidate.gap, op);
        }
        const std::int64_t held = held_[static_cast<std::size_t>(op)];
        if (held <= most_) return {};
        return {Code::out_of_memory,
                fmt::format("operator {} needs {} bytes with all away that may be, {} are allowed",
                            op, held, most_)};
    }

    void force(std::size_t g, std::int32_t op) {
        GapState& gap = state_[g];
        hold(gap.is_used() ? gap.all() : Away{}, gaps_[g].bytes);
        if (!gap.forced.is_any()) gap.forced = {op, op + 1};
        gap.forced = {std::min(gap.forced.gone_from, op), std::max(gap.forced.back_at, op + 1)};
        hold(gap.all(), -gaps_[g].bytes);
    }

    /// All that were chosen, in stream order. What is then too late is not chosen again; what is
    /// forced is on the link as well, but is not dropped.
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

    /// Sweeps choose too many: later ones may have made earlier ones needless.
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
            if (is_needless(g)) {
                hold(state_[g].all(), gaps_[g].bytes);
                state_[g].chosen = false;
                state_[g].forced = {};
            }
    }
    bool is_needless(std::size_t g) const {
        const Away away = state_[g].all();
        for (std::int32_t n = away.gone_from; n < away.back_at; ++n)
            if (held_[static_cast<std::size_t>(n)] + gaps_[g].bytes > most_) return false;
        return true;
    }

    RankChoice choice() const {
        RankChoice out;
        for (std::size_t g = 0; g < gaps_.size(); ++g)
            if (state_[g].is_used()) out.push_back({gaps_[g], state_[g].all().back_at});
        return out;
    }

    const RankTimes& times_;
    const std::vector<Gap>& gaps_;
    std::int64_t most_;
    std::vector<GapState> state_;
    std::vector<std::vector<std::size_t>> by_after_;  ///< index: after + 1
    std::vector<std::int64_t> unmoved_;               ///< held by operator, with nothing moved
    std::vector<std::int64_t> held_;
    bool hid_any_ = false;
};

}  // namespace

Result<RankChoice> choose_moves(const RankProgram& rank, const RankTimes& times,
                                const std::vector<Gap>& gaps, std::int64_t most_bytes_held) {
    return Chooser(rank, times, gaps, most_bytes_held).choose();
}

}  // namespace gradcoll::mover
