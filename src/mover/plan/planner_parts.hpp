// mover/plan/planner_parts.hpp - what planner.cpp is made of: the families of choices that it
// tries, a length that no step can be shorter than, and places of tensors in the pinned host
// memory.
#pragma once

#include <cstddef>
#include <vector>

#include "mover/plan/gaps.hpp"
#include "mover/plan/ladder.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// A ChoiceFamily has all choices of some kinds by one pattern. Of the model states that may move,
/// a share lives in the host, and a share leaves for a while; the rest stays.
struct ChoiceFamily {
    MovableKinds kinds;
    std::size_t at_home = 0, leaving = 0, shares = 1;
    Pattern pattern;
};

/// Says how thoroughly choices are tried; it depends on the size of the program alone.
struct Effort {
    std::size_t shares = 4;      ///< into which the optimizer's states are divided
    std::size_t rungs = 64;      ///< sizes of memory for which a choice is made
    std::int64_t sizes = 256;    ///< for which one is made where many have their own; 0: none are
    std::int64_t counts = 64;    ///< that are tried of each rule that counts, at most
    bool moves_bundles = false;  ///< whether tensors that are used together move as one

    static Effort for_long_steps(std::size_t operators);
};
Effort effort_for(const Program& program);

/// Returns the families for every selection of the kinds: more kinds have all families of fewer.
/// The first moves only what must move; of steps of one length the planner takes the first.
std::vector<ChoiceFamily> families_of(const Program& program, const MovableKinds& kinds,
                                      const Effort& effort);

/// Returns the gaps that a family may use.
std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const ChoiceFamily& family);

/// Returns a length that no step is shorter than, by what memory is missing at an operator: that
/// has left before it, as fast as the link goes, and comes back after it. Operators wait for each
/// other with these delays. Sums of whole tensors are looked at where that is quick. 0 if ranks
/// wait for each other in a circle. Complexity: n log n in gaps for each of the operators looked
/// at, which are fewer where there are more gaps; n log n in operators.
Tick shortest_step(const Program& program, const Rooms& rooms, const MovableKinds& kinds);

/// Returns what a tensor takes in the pool: whole pages; the most that so many tensors take that
/// have these bytes in all.
std::int64_t bytes_in_pool(std::int64_t bytes, std::int64_t pieces = 1);

/// Gives each move its offset: the lowest multiple of a page at which it fits beside all that may
/// be there at the same time, from the operator that used it to the one that needs it next; tensors
/// that live in the host lie below all others. Sets pool_bytes, which so does not depend on times.
/// Moves are in the order of their transfers. Complexity: moves times pieces in use.
void lay_out_pool(const RankProgram& rank, RankMoves& moves);

}  // namespace gradcoll::mover
