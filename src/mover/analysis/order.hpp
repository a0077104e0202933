// mover/analysis/order.hpp - in which order a pipeline rank takes its micro-batches forward and
// backward.
#pragma once

#include <vector>

#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

/// All layers that a rank has in one virtual stage, for one micro-batch, one way.
struct Pass {
    bool forward = true;
    std::int32_t chunk = 0;  ///< the rank's virtual stage
    std::int32_t micro_batch = 0;
};

/// GPipe: all forward, then all backward in the same order. 1F1B: min(m, p - 1 - rank) forward,
/// then one of each in turns (Narayanan et al., PipeDream-2BW). Interleaved: the same of virtual
/// stages, which come in groups of p micro-batches (Narayanan et al., arXiv 2104.04473).
std::vector<Pass> passes_of(const Parallel& parallel, std::int32_t rank);

}  // namespace gradcoll::mover
