// fuzz/mover_targets.hpp - targets for what plans of moves are made from and read from.
#pragma once

#include <vector>

#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {

std::vector<Target> mover_targets();

}  // namespace gradcoll::fuzz
