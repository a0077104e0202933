// mover/files/plan_file.hpp - a plan as text (JSON that can be read again, CSV for tables), and
// drawn: a trace for Perfetto, and memory over time.
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

/// Returns the plan in the trace event format, which Perfetto and chrome://tracing show. Each rank
/// is a process with the lanes compute, out (TRANSFERs), in (PREFETCHs) and network (what the rank
/// waits for from others), and with counters of device and host memory. An arrow goes from each
/// TRANSFER to its PREFETCH and to the operator that needs it.
std::string trace_of(const Program& program, const MovePlan& plan);

/// Returns an SVG with a panel for each rank: what its device holds, what it would hold at the same
/// times with nothing moved, what it may hold, and what lies in the host.
std::string drawing_of(const Program& program, const Rooms& rooms, const MovePlan& plan);

}  // namespace gradcoll::mover
