// mover/files/pictures.hpp - draws a plan: a trace for Perfetto, and memory over time.
#pragma once

#include <string>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Returns the plan in the trace event format, which Perfetto and chrome://tracing show. Each rank
/// is a process with the lanes compute, out (TRANSFERs), in (PREFETCHs) and network (what the rank
/// waits for from others), and with counters of device and host memory. An arrow goes from each
/// TRANSFER to its PREFETCH and to the operator that needs it.
std::string trace_of(const Program& program, const MovePlan& plan);

/// Returns an SVG with a panel for each rank: what its device holds, what it would hold at the same
/// times with nothing moved, what it may hold, and what lies in the host.
std::string drawing_of(const Program& program, const Rooms& rooms, const MovePlan& plan);

}  // namespace gradcoll::mover
