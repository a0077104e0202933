// collectives/build/flexreduce/flexreduce.hpp - from tree and spec to the steps of one rank for one
// chunk.
#pragma once

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/schedule.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// `spec` must be valid for `tree` (Planner checks), `stage_count` that of both. Cost follows the
/// number of messages of `rank`. Errors: internal if a step would have to wait for more steps than
/// it can count.
Result<Schedule> flexreduce_schedule(const Tree& tree, const PlanSpec& spec,
                                     std::uint32_t stage_count, int rank, std::int64_t chunk_elems);

/// Messages' stage numbers are below this: the same for all ranks.
int flexreduce_stage_count(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
