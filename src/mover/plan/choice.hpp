// mover/plan/choice.hpp - which tensors of a rank move, and in which order they come back.
#pragma once

#include <vector>

#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

/// A ChosenMove is a gap that is used, with the operator from which on its prefetch may start.
struct ChosenMove {
    Gap gap;
    std::int32_t prefetch_at = 0;
};

using RankChoice = std::vector<ChosenMove>;

}  // namespace gradcoll::mover
