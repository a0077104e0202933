// gc_plan/link_report.hpp - bytes on every link of the tree.
#pragma once

#include <string>

#include "base/status.hpp"
#include "subject.hpp"

namespace gc_plan {

/// Up to so many ranks all plans are made and counted; above, the formula answers.
inline constexpr int most_counted_ranks = 2048;

/// One line or JSON object for each vertex with an uplink, in the tree's order. Errors: those of
/// make_plan().
gradcoll::Result<std::string> link_report(const Subject& subject, bool json);

}  // namespace gc_plan
