// runtime/step_kernels.hpp - the steps that need no peer: encode, decode, reduce, copy.
#pragma once

#include <cstdint>

#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Runs one local step. `residual_first_elem` is only looked at for encode steps.
/// Never allocates unless it fails. Errors: corrupt if a codec refuses its input; internal for a
/// send or receive.
Status run_local_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_first_elem);

}  // namespace gradcoll
