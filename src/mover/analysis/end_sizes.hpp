// mover/analysis/end_sizes.hpp - embedding and head of a transformer.
#pragma once

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {

/// Returns `bytes` for each number of what flows through the blocks, on one device.
std::int64_t of_row(const StepSizes& step, std::int64_t bytes);

DeviceLayer embedding(const StepSizes& step);

/// Returns the last norm, the product with the vocabulary, and the loss as one layer. The table is
/// the head's own, or the embedding's.
DeviceLayer head(const StepSizes& step, bool own_table);

}  // namespace gradcoll::mover
