// tests/mover/published.hpp - compares memory, and times of training steps, that others have
// published with what analysis and simulation say of the same model and strategy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

struct PublishedRow {
    std::string model;
    std::string what;
    std::string unit;
    double published = 0;
    double ours = 0;
    double error = 0;    ///< (ours - published) / published
    double allowed = 0;  ///< the largest size of the error
    bool holds() const { return error <= allowed && error >= -allowed; }
};

/// Compares with Korthikanti et al., arXiv 2205.05198: Figure 1 (memory of the first pipeline rank
/// of four models, as read by Calculon's validation) and Figure 7 (activations by technique, as a
/// share of those with tensor parallelism alone). Errors: only internal ones.
Result<std::vector<PublishedRow>> published_rows();

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
