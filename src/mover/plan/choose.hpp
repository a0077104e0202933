// mover/plan/choose.hpp - which gaps a rank uses, so that no operator needs more memory than there
// is: such that nobody waits, if that can be, else those that cost least.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "mover/plan/look_back.hpp"

namespace gradcoll::mover {

/// A gap that is used, and from which operators on its prefetch and its transfer may start.
struct ChosenMove {
    Gap gap;
    std::int32_t prefetch_at = 0;
    std::int32_t sent_at = 0;
};

using RankChoice = std::vector<ChosenMove>;

/// Greedy: operator by operator, where memory is short, of the gaps around it the one whose tensor
/// is needed last, as long as it can be gone and back in time (look_back); when there is none, the
/// one with the shortest wait. Gaps that must be used are used first. Errors: out_of_memory, naming
/// the operator and what it needs at least.
Result<RankChoice> choose_moves(const RankProgram& rank, const RankTimes& times,
                                const std::vector<Gap>& gaps, std::int64_t most_bytes_held);

}  // namespace gradcoll::mover
