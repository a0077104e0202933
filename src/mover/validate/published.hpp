// mover/validate/published.hpp - memory that others have published, beside what the analysis says
// of the same model and strategy.
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
    double allowed = 0;  ///< of the error's size
    bool holds() const { return error <= allowed && error >= -allowed; }
};

/// Korthikanti et al., arXiv 2205.05198: Figure 1 (memory of the first pipeline rank of four
/// models, as read by Calculon's validation) and Figure 7 (activations by technique, as a share of
/// those with tensor parallelism alone). Errors: none but internal ones.
Result<std::vector<PublishedRow>> published_rows();

}  // namespace gradcoll::mover
