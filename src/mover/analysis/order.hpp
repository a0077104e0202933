// mover/analysis/order.hpp - the order in which a pipeline rank takes its micro-batches forward and
// backward.
#pragma once

#include <vector>

#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

/// A Pass runs all layers of one of the rank's virtual stages, for one micro-batch, in one
/// direction.
struct Pass {
    bool forward = true;
    std::int32_t chunk = 0;  ///< the rank's virtual stage
    std::int32_t micro_batch = 0;
};

/// Returns the rank's passes in order. GPipe runs all forward passes, then all backward passes in
/// the same order. 1F1B runs min(m, p - 1 - rank) forward passes, then one of each in turn
/// (Narayanan et al., PipeDream-2BW). Interleaved does so with virtual stages, which come in groups
/// of p micro-batches (Narayanan et al., arXiv 2104.04473).
std::vector<Pass> passes_of(const Parallel& parallel, std::int32_t rank);

}  // namespace gradcoll::mover
