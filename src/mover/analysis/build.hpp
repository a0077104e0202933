// mover/analysis/build.hpp - from what was described to what every pipeline rank does and holds in
// one step.
#pragma once

#include "mover/analysis/layers.hpp"
#include "mover/program/move_plan.hpp"
#include "mover/program/program.hpp"

namespace gradcoll::mover {

struct Description {
    Model model;
    Parallel parallel;
    Cluster cluster;
};

/// Errors: invalid_argument where the strategy does not fit the model, or the step has more than
/// most_operators or most_tensors. Complexity: linear in both.
Result<Program> program_of(const Description& description);

/// Devices are counted through tensor-, data-, then pipeline-parallel ranks, and hosts are filled
/// in that order. `device_bytes` 0: what the cluster says. Errors: invalid_argument for links so
/// slow that a tensor of the program would take longer than longest_ticks.
Result<Rooms> rooms_of(const Description& description, const Program& program,
                       std::int64_t device_bytes);

/// Errors: invalid_argument if a tensor would take longer than longest_ticks on its rank's lane.
Status check_longest_move(const Program& program, const Rooms& rooms);

}  // namespace gradcoll::mover
