// collectives/build/spec_check.hpp - whether a spec can be planned on a tree. Only facts that all
// ranks know alike: all of them accept it, or none.
#pragma once

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Sizes, codecs, choices and feedback of a spec for `tree`. Errors: invalid_argument naming the
/// field, its value and what is allowed.
Status check_spec(const Tree& tree, const PlanSpec& spec);

/// The rest, on the tree that the plan is made on (PlannedTree): where single exchanges stand
/// (invalid_argument), and what steps can number (unsupported).
Status check_planned(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
