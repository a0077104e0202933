// fuzz/files_targets.hpp - targets that are read from files and from records of other ranks, except
// settings and topologies, each with texts to begin with.
#pragma once

#include <vector>

#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {

std::vector<Target> files_targets();

}  // namespace gradcoll::fuzz
