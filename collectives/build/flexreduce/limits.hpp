// collectives/build/flexreduce/limits.hpp - says which trees and specs flexreduce can plan.
#pragma once

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Checks, on the tree that the plan is made on (PlannedTree), where single exchanges are
/// (invalid_argument), and that steps can number everything (unsupported). It uses only facts that
/// all ranks share, so all of them accept a spec, or none.
Status check_planned(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
