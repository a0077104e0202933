// mover/validate/step_times.hpp - compares measured times of training steps that others have
// published with simulated ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

struct StepTimes {
    std::int64_t pipeline = 0;  ///< number of pipeline ranks; 0: rows of any number
    std::int64_t rows = 0;
    double mean_error = 0;  ///< mean size of the errors
    double worst_error = 0;
    double allowed = 0;  ///< upper bound of the mean
    bool holds() const { return mean_error <= allowed; }
};

/// Compares with the 1,440 single-node iterations of vTrain's repository. The times of a layer, and
/// of embedding, head and loss, in a micro-batch come from the rows of 12 and 24 layers without
/// pipeline (160 of them); all others are simulated with those times, and compared. Errors:
/// internal ones.
Result<std::vector<StepTimes>> published_step_times();

}  // namespace gradcoll::mover
