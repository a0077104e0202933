// mover/validate/step_times.hpp - measured times of training steps that others have published,
// beside simulated ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

struct StepTimes {
    std::int64_t pipeline = 0;  ///< ranks; 0: of all
    std::int64_t rows = 0;
    double mean_error = 0;  ///< of the sizes of the errors
    double worst_error = 0;
    double allowed = 0;  ///< of the mean
    bool holds() const { return mean_error <= allowed; }
};

/// The 1,440 single-node iterations of vTrain's repository. What a layer and what embedding, head
/// and loss take in a micro-batch comes from the rows of 12 and 24 layers without pipeline (160 of
/// them); all others are simulated from those times, and compared. Errors: internal ones.
Result<std::vector<StepTimes>> published_step_times();

}  // namespace gradcoll::mover
