// mover/analysis/build.hpp - builds, from a description, what every pipeline rank does and holds in
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

/// Builds the program that the description stands for. Errors: invalid_argument if the strategy
/// does not fit the model, or the step has more than most_operators or most_tensors. Complexity:
/// linear in both.
Result<Program> program_of(const Description& description);

/// Returns the memory and links of every rank. Devices are numbered through tensor-, data-, then
/// pipeline-parallel ranks, and fill the hosts in that order. A `device_bytes` of 0 stands for the
/// cluster's value. Errors: invalid_argument for links so slow that a tensor of the program would
/// take longer than longest_ticks.
Result<Rooms> rooms_of(const Description& description, const Program& program,
                       std::int64_t device_bytes);

/// Checks that no tensor takes longer than longest_ticks on its rank's lane. Errors:
/// invalid_argument.
Status check_longest_move(const Program& program, const Rooms& rooms);

}  // namespace gradcoll::mover
