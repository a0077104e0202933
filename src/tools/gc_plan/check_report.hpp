// gc_plan/check_report.hpp - plans of some ranks: what they cost, what they hold, whether they are
// right.
#pragma once

#include <string>

#include "base/status.hpp"
#include "options.hpp"
#include "subject.hpp"

namespace gc_plan {

/// Up to so many ranks all plans are proved together, too.
inline constexpr int most_verified_ranks = 512;

/// Errors: those of Planner; internal for a plan that does not check out.
gradcoll::Result<std::string> check_report(const Subject& subject, const Options& options);

}  // namespace gc_plan
