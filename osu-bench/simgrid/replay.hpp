// replay.hpp - one rank walks its plan as runtime/executor does, in simulated time and without
// data: messages have their true size on the wire, local steps take as long as their speed says.
// And the library's own executor with real data, in the simulation: this proves that what is
// replayed sums correctly, and that the replay takes as long.
#pragma once

#include <cstddef>
#include <string>

#include "collectives/plan/plan.hpp"

namespace gradcoll::simulate {

/// StepSpeeds are GB/s of plain elements by kind of local step; 0: takes no time. The defaults are
/// those of 2:4 on fp32 with AVX-512 (docs/benchmarks.md). Sums and copies take no time, since they
/// take none in SMPI's own algorithms.
struct StepSpeeds {
    double encode = 14.0;
    double decode = 12.8;
    double decode_reduce = 14.5;
    double reduce = 0;
    double copy = 0;

    double of(StepKind kind) const;
};

/// A Way holds those Executor::Options that change when messages leave.
struct Way {
    int chunks_in_flight = 4;
    bool paced = false;
};

/// Runs the plan of the calling rank of MPI_COMM_WORLD; returns when all its steps have ended. All
/// messages of all ranks leave from and arrive in the same memory (what is in it does not matter):
/// `buffer` holds at least the largest message. Needs SMPI's context; one call a rank at a time.
/// Throws std::runtime_error for a plan that cannot be walked.
void replay(const Plan& plan, const StepSpeeds& speeds, const Way& way, std::byte* buffer);

/// Returns the largest of all messages of the plan.
std::size_t largest_message_bytes(const Plan& plan);

/// Runs an allreduce of small integers in fp32 on the calling rank of MPI_COMM_WORLD, through
/// runtime/executor and memory of its own; local work takes no simulated time. Exact plans must
/// give the sum on every element; lossy ones the same bits on all ranks, which the caller compares
/// by `digest`. Returns what is wrong, or nothing.
std::string run_executor(const Plan& plan, const Way& way, std::uint64_t& digest);

}  // namespace gradcoll::simulate
