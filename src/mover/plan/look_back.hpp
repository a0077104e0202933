// mover/plan/look_back.hpp - which operators run while a tensor is away, if none of them may wait.
#pragma once

#include <vector>

#include "mover/plan/gaps.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Operators from `gone_from` on, before `back_at`, run without the tensor.
struct Away {
    std::int32_t gone_from = 0;
    std::int32_t back_at = 0;
    std::int32_t sent_at = 0;  ///< the TRANSFER is let go when the operator before it has ended
    bool is_any() const { return gone_from < back_at; }
};

/// When a rank's operators start and end.
class RankTimes {
  public:
    RankTimes(const RankProgram& rank, const std::vector<Tick>& starts);

    std::int32_t count() const { return static_cast<std::int32_t>(starts_.size()); }
    Tick start(std::int32_t op) const { return starts_[static_cast<std::size_t>(op)]; }
    /// -1: the begin of the step.
    Tick end(std::int32_t op) const { return op < 0 ? 0 : ends_[static_cast<std::size_t>(op)]; }
    /// The first operator that starts at `tick` or later; count() if there is none.
    std::int32_t first_from(Tick tick) const;
    /// The last operator that a prefetch at `tick` can be let go with: the one before it has ended.
    std::int32_t last_let_go(Tick tick) const;
    /// The first start from `tick` on, and the last that ends at `tick` or before, of a move that
    /// meets no operator that holds the lane.
    Tick clear_from(Tick tick, Tick ticks) const;
    Tick clear_before(Tick tick, Tick ticks) const;

  private:
    std::vector<Tick> starts_, ends_;
    std::vector<Span> held_;  ///< by collectives, ascending
};

/// Of one gap, if it had the link for itself.
Away away_alone(const RankTimes& times, const Gap& gap);

/// Of `chosen` (indices of gaps) in stream order, beside collectives that hold the lane. Transfers
/// go as soon as they may, in the order of their last uses. Prefetches start as late as they may:
/// from the last need to the first, each so that start + ticks <= its need and <= the start of the
/// next one. Those that would not be away at all get an Away that is not any, and take no time on
/// the link. Complexity: n log n.
std::vector<Away> look_back(const RankTimes& times, const std::vector<Gap>& gaps,
                            const std::vector<std::size_t>& chosen);

}  // namespace gradcoll::mover
