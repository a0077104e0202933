// fuzz/topology_targets.hpp - everything that a topology is read from, fed with any bytes: it gives
// a message or a tree, and neither a crash nor a long run.
#pragma once

#include <span>

#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {

std::span<const Target> topology_targets();

}  // namespace gradcoll::fuzz
