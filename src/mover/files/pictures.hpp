// mover/files/pictures.hpp - a plan to look at: a trace for Perfetto, and memory over time.
#pragma once

#include <string>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Trace event format, as Perfetto and chrome://tracing show it. A process for each rank, with
/// lanes compute, out (TRANSFERs), in (PREFETCHs) and network (what the rank waits for of others),
/// and counters of device and host memory. An arrow goes from each TRANSFER to its PREFETCH and to
/// the operator that needs it.
std::string trace_of(const Program& program, const MovePlan& plan);

/// SVG: a panel for each rank with what its device holds, what it would hold with nothing moved at
/// the same times, what it may hold, and what lies in the host.
std::string drawing_of(const Program& program, const Rooms& rooms, const MovePlan& plan);

}  // namespace gradcoll::mover
