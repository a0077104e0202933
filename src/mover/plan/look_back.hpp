// mover/plan/look_back.hpp - finds which operators run while a tensor is away, if none of them may
// wait.
#pragma once

#include <vector>

#include "mover/plan/gaps.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Away says which operators run without the tensor: those from `gone_from` on, before `back_at`.
struct Away {
    std::int32_t gone_from = 0;
    std::int32_t back_at = 0;
    std::int32_t sent_at =
        0;  ///< the TRANSFER may start when the operator before this one has ended
    bool is_any() const { return gone_from < back_at; }
};

/// RankTimes holds when a rank's operators start and end.
class RankTimes {
  public:
    RankTimes(const RankProgram& rank, const std::vector<Tick>& starts);

    std::int32_t count() const { return static_cast<std::int32_t>(starts_.size()); }
    Tick start(std::int32_t op) const { return starts_[static_cast<std::size_t>(op)]; }
    /// Returns the end of an operator; -1 stands for the begin of the step.
    Tick end(std::int32_t op) const { return op < 0 ? 0 : ends_[static_cast<std::size_t>(op)]; }
    /// Returns the first operator that starts at `tick` or later; count() if there is none.
    std::int32_t first_from(Tick tick) const;
    /// Returns the last operator that a prefetch starting at `tick` may name as its prefetch_at:
    /// the operator before it has ended.
    std::int32_t last_let_go(Tick tick) const;
    /// Return the earliest start at `tick` or later, and the latest start that ends by `tick`, of a
    /// move of `ticks` during which no operator holds the lane.
    Tick clear_from(Tick tick, Tick ticks) const;
    Tick clear_before(Tick tick, Tick ticks) const;

  private:
    std::vector<Tick> starts_, ends_;
    std::vector<Span> held_;  ///< spans in which collectives hold the lane, ascending
};

/// Returns the operators for one gap, if its move had the link for itself.
Away away_alone(const RankTimes& times, const Gap& gap);

/// Returns the operators for each gap of `chosen` (indices of gaps) when their moves share the
/// streams, beside collectives that hold the lane. Transfers go as soon as they may, in the order
/// of their last uses. Prefetches start as late as they may: from the last need to the first, each
/// so that start + ticks <= its need and <= the start of the next one. A gap in which the tensor
/// would never be away gets an Away with is_any() false, and takes no time on the link. Complexity:
/// n log n.
std::vector<Away> look_back(const RankTimes& times, const std::vector<Gap>& gaps,
                            const std::vector<std::size_t>& chosen);

}  // namespace gradcoll::mover
