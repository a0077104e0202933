// plan/reports.hpp - reports on the plans: plans of some ranks and whether they are right, and
// bytes on every link of the tree.
#pragma once

#include <string>

#include "base/status.hpp"
#include "options.hpp"
#include "subject.hpp"

namespace gradcoll::plan {

/// Up to so many ranks all plans are proved together, too.
inline constexpr int most_verified_ranks = 512;

/// Reports what plans of some ranks cost and hold. Errors: those of Planner; internal for a plan
/// that is wrong.
gradcoll::Result<std::string> check_report(const Subject& subject, const Options& options);

/// Up to so many ranks all plans are made and counted; above, the formula answers, for the builders
/// that it knows.
inline constexpr int most_counted_ranks = 2048;

/// Returns one line or JSON object for each vertex with an uplink, in the tree's order. Errors:
/// those of make_plan().
gradcoll::Result<std::string> link_report(const Subject& subject, bool json);

}  // namespace gradcoll::plan
