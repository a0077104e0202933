// fuzz/files_targets.hpp - what is read from files and from records of other ranks, but for
// settings and topologies, each with texts to begin with.
#pragma once

#include <vector>

#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {

std::vector<Target> files_targets();

}  // namespace gradcoll::fuzz
