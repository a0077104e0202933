// mover/plan/carry_out.hpp - computes when everything happens if chosen moves are carried out:
// operators wait for memory and for tensors that are not back.
#pragma once

#include <optional>
#include <vector>

#include "base/status.hpp"
#include "mover/plan/gaps.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// CarryOut simulates all ranks in one of many steps that are alike: it begins with the moves under
/// way that it leaves to the next one. Its operators begin when those of the step before have ended
/// on all ranks. A TRANSFER starts when the last use has ended and earlier
/// TRANSFERs have gone; a collective that holds the lane waits for all moves that were let go, and
/// later moves wait for it. A PREFETCH starts when the operator before prefetch_at has ended,
/// earlier PREFETCHs have come, and memory is free. An operator starts when its tensors are there
/// and memory is free for what it makes. On a link that carries one way at a time, moves of both
/// ways follow each other in the order in which they are let go. All orders are those of the
/// choices, so more memory or a faster link never make anything later.
class CarryOut {
  public:
    /// Both must outlive this object.
    CarryOut(const Program& program, const Rooms& rooms);

    /// No step is as long.
    static constexpr Tick longest_step = Tick{1} << 62;

    /// Returns the length of the shortest step, with what moves cost the program; nothing if memory
    /// can never be free, or as soon as it is known that the step does not end before `below`.
    /// Complexity: n log n in operators and moves; where moves keep operators of the next step
    /// waiting, 30 times as much at most.
    std::optional<Tick> step(const std::vector<RankChoice>& choices,
                             Tick below = longest_step) const;
    /// Returns the plan of the step that step() has found. Pools are not laid out yet. Errors:
    /// out_of_memory if memory can never be free.
    Result<MovePlan> plan(const std::vector<RankChoice>& choices) const;

  private:
    /// Footprint holds what a rank's tensors take that do not stay.
    struct Footprint {
        std::int64_t staying = 0;
        Tick lane_is_held = 0;                  ///< by collectives
        std::vector<std::int64_t> made, freed;  ///< by operator
    };
    class RankRun;

    std::vector<RankRun> runs_of(const std::vector<RankChoice>& choices) const;
    std::optional<Starts> run(std::vector<RankRun>& runs, Tick below) const;
    std::optional<Starts> in_a_row(std::vector<RankRun>& runs, Tick ticks, int tries,
                                   Tick& enough) const;
    Tick shortest(const std::vector<RankRun>& runs) const;
    Tick busy(const std::vector<RankChoice>& choices) const;
    Tick cost_of(const std::vector<RankChoice>& choices) const;

    const Program& program_;
    const Rooms& rooms_;
    std::vector<Footprint> footprints_;
    Starts rest_;  ///< the shortest times from operators' starts to the end of the step
};

}  // namespace gradcoll::mover
