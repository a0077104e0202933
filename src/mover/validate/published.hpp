// mover/validate/published.hpp - compares memory that others have published with what the analysis
// says of the same model and strategy.
#pragma once

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

}  // namespace gradcoll::mover
