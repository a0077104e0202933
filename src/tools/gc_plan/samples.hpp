// gc_plan/samples.hpp - which ranks' plans are looked at where there are too many for all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gc_plan {

struct Sample {
    int rank = 0;
    std::string why;  ///< "first", "smallest branches", "random", ...
};

/// At most `count` different ranks, all if there are no more: the first, the last, those that the
/// smallest, the largest and the deepest branch at every vertex lead to, then random ones, the same
/// for the same seed.
std::vector<Sample> samples_of(const gradcoll::Tree& tree, int count, std::int64_t seed);

}  // namespace gc_plan
