// tests/mover/vtrain_times.hpp - the measured numbers behind step_times.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradcoll::mover {

struct VTrainBatches {
    std::int64_t micro_batch_size, micro_batches;
};

/// Each strategy was measured with these batches.
inline constexpr std::array<VTrainBatches, 10> vtrain_batches = {
    {{1, 2}, {1, 4}, {1, 8}, {1, 16}, {2, 2}, {2, 4}, {2, 8}, {4, 2}, {4, 4}, {8, 2}}};

struct VTrainRow {
    std::int64_t hidden, layers, tensor, data, pipeline;
    /// The times are those of one iteration, in units of ten microseconds, in the order of
    /// vtrain_batches.
    std::array<std::int64_t, vtrain_batches.size()> times;
};

inline constexpr std::size_t vtrain_rows = 144;
extern const std::array<VTrainRow, vtrain_rows> vtrain_times;

}  // namespace gradcoll::mover
