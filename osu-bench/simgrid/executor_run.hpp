// executor_run.hpp - runs the library's own executor with real data in the simulation: this proves
// that what is replayed sums correctly, and that the replay takes as long.
#pragma once

#include <string>

#include "collectives/plan/plan.hpp"
#include "replay.hpp"

namespace gradcoll::simulate {

/// Runs an allreduce of small integers in fp32 on the calling rank of MPI_COMM_WORLD, through
/// runtime/executor and memory of its own; local work takes no simulated time. Exact plans must
/// give the sum on every element; lossy ones the same bits on all ranks, which the caller compares
/// by `digest`. Returns what is wrong, or nothing.
std::string run_executor(const Plan& plan, const Way& way, std::uint64_t& digest);

}  // namespace gradcoll::simulate
