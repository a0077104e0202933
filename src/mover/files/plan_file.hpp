// mover/files/plan_file.hpp - a plan as text: JSON that can be read again, CSV for tables.
#pragma once

#include <string>

#include "mover/files/inputs.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Writes {"gradcoll_move_plan": 1, "inputs": {"model", "parallel", "cluster", "device_memory",
/// "move", "least", "measured"}, "step_ticks", "ranks": [{"starts", "pool_bytes", "moves":
/// [...]}]}; docs/mover.md has all keys.
std::string json_of(const Inputs& inputs, const Program& program, const MovePlan& plan);

/// Writes one instruction a line with the columns
/// rank,instruction,tensor,kind,bytes,after,needed_by,start,end,slack,host_offset.
std::string csv_of(const Program& program, const MovePlan& plan);

/// Read what the JSON says, without checking the plan. Errors: invalid_argument with place and
/// value.
Result<Inputs> inputs_of_plan(const Document& document);
Result<MovePlan> plan_of(const Document& document);

}  // namespace gradcoll::mover
