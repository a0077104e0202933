// collectives/build/flexreduce/flexreduce.hpp - says which trees and specs flexreduce can plan, and
// makes the steps of one rank for one chunk from tree and spec.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/schedule.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns a bound of the stage numbers of messages, the same on all ranks.
int flexreduce_stage_count(const Tree& tree, const PlanSpec& spec);

/// Returns Plan::encodings_go_one_hop: the root's branches swap encodings in one round, and no
/// vertex below it swaps any.
bool encodings_go_one_hop(const Tree& tree, const PlanSpec& spec);

/// FlexreduceFacts are computed once from a tree and a spec, and are the same for all ranks.
struct FlexreduceFacts {
    FlexreduceFacts(const Tree& tree, const PlanSpec& spec)
        : stage_count(static_cast<std::uint32_t>(flexreduce_stage_count(tree, spec))),
          dealt(spec.dealt ? dealt_shapes(tree) : std::vector<char>()) {}

    std::uint32_t stage_count;
    std::vector<char> dealt;  ///< by shape, as OwnershipMap expects it
};

/// Makes the schedule. `spec` must be valid for `tree` (Planner checks it), and `facts` must be
/// theirs. The cost follows the number of messages of `rank`. Errors: internal if a step would have
/// to wait for more steps than it can count.
Result<Schedule> flexreduce_schedule(const Tree& tree, const PlanSpec& spec,
                                     const FlexreduceFacts& facts, int rank,
                                     std::int64_t chunk_elems);

/// Checks, on the tree that the plan is made on (PlannedTree), where single exchanges are
/// (invalid_argument), and that steps can number everything (unsupported). It uses only facts that
/// all ranks share, so all of them accept a spec, or none.
Status check_planned(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
