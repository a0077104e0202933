// mover/plan/choice_families.hpp - the families of choices that the planner tries.
#pragma once

#include <cstddef>
#include <vector>

#include "mover/plan/ladder.hpp"

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
    std::size_t shares = 4;  ///< into which the optimizer's states are divided
    std::size_t rungs = 64;  ///< sizes of memory for which a choice is made; 0: the device's alone
};
Effort effort_for(const Program& program);

/// Returns the families for every selection of the kinds: more kinds have all families of fewer.
/// The first moves only what must move; of steps of one length the planner takes the first.
std::vector<ChoiceFamily> families_of(const Program& program, const MovableKinds& kinds,
                                      const Effort& effort);

/// Returns the gaps that a family may use.
std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const ChoiceFamily& family);

}  // namespace gradcoll::mover
