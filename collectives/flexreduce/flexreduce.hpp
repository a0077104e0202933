// collectives/flexreduce/flexreduce.hpp - from tree and spec to the steps of one rank for one
// chunk.
#pragma once

#include "collectives/plan.hpp"
#include "collectives/schedule.hpp"

namespace gradcoll {

/// `spec` must be valid for `tree` (make_plan checks). Cost follows the number of messages of
/// `rank`.
Schedule flexreduce_schedule(const Tree& tree, const PlanSpec& spec, int rank,
                             std::int64_t chunk_elems);

/// Messages' stage numbers are below this: the same for all ranks.
int flexreduce_stage_count(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
