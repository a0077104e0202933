// mover/plan/choose.hpp - chooses which gaps a rank uses, so that no operator needs more memory
// than there is: gaps for which nobody waits, if that is possible, else those that cost least.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "mover/plan/look_back.hpp"

namespace gradcoll::mover {

/// A ChosenMove is a gap that is used, with the operators from which on its prefetch and its
/// transfer may start.
struct ChosenMove {
    Gap gap;
    std::int32_t prefetch_at = 0;
    std::int32_t sent_at = 0;
};

using RankChoice = std::vector<ChosenMove>;

/// Chooses greedily, operator by operator where memory is short: among the gaps around it the one
/// whose tensor is needed last, if it can be gone and back in time (look_back); if there is none,
/// the one with the shortest wait. Gaps that must be used are used first. Errors: out_of_memory,
/// naming the operator and what it needs at least.
Result<RankChoice> choose_moves(const RankProgram& rank, const RankTimes& times,
                                const std::vector<Gap>& gaps, std::int64_t most_bytes_held);

}  // namespace gradcoll::mover
