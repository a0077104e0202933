// api/mover_handle.hpp - what a GC_Mover is, for the calls on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "gradcoll/mover.h"
#include "mover/execution/execution.hpp"
#include "mover/files/inputs.hpp"

struct GC_Mover_s {
    MPI_Comm comm = MPI_COMM_NULL;  ///< the user's, which must outlive the mover
    int pipeline_rank = 0;
    gradcoll::mover::Inputs inputs;  ///< those of the plan that is followed
    std::vector<std::string> layer_names, tensor_names;
    std::unique_ptr<gradcoll::mover::Execution> execution;
    gradcoll::mover::Tick planned_step = 0;
    std::int64_t planned_rate = 0;  ///< bytes a second that the plan counts with
    std::int64_t device_bytes = 0;
    double drift_share = 0;  ///< set by the program; 0: it does not plan again
    std::int64_t replans = 0;
    bool has_warned = false;
};

namespace gradcoll {

/// ReadPlan is a plan's text, read and checked.
struct ReadPlan {
    mover::Inputs inputs;
    mover::Scene scene;
    mover::MovePlan plan;
};
Result<ReadPlan> read_plan(const std::string& text);

/// Returns the limits of the rank's execution: the link's own rate, not the one that was measured,
/// or moves could never be found to have become faster.
mover::RankRoom room_of(const mover::Scene& scene, std::size_t rank);

/// Returns how far the last step was from its plan: the share by which the times of operators, or
/// of moves, were off, whichever is more; 0 before the first step.
double drift_of(const GC_Mover_s& mover);

/// Takes a new plan if any rank's step was too far from its own. Collective.
Status plan_again(GC_Mover_s& mover);

}  // namespace gradcoll
