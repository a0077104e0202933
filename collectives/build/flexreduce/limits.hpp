// collectives/build/flexreduce/limits.hpp - which trees and specs flexreduce can plan.
#pragma once

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// On the tree that the plan is made on (PlannedTree): where single exchanges stand
/// (invalid_argument), and what steps can number (unsupported). Only facts that all ranks know
/// alike: all of them accept it, or none.
Status check_planned(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
