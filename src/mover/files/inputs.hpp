// mover/files/inputs.hpp - everything that a plan follows from, as it was written: it goes along
// with the plan, so that whoever has the plan can prove it.
#pragma once

#include <string>
#include <vector>

#include "mover/analysis/build.hpp"
#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

/// What steps really took, in the place of what the model says.
struct Measured {
    std::vector<std::vector<Tick>> durations;  ///< of each rank's operators; empty: as described
    std::vector<std::int64_t> bytes_per_second{};  ///< of each rank's lane, if that is slower
};

struct Inputs {
    Document model, parallel, cluster;
    std::int64_t device_bytes = 0;  ///< 0: the cluster's
    MovableKinds kinds{};           ///< that may move
    Measured measured{};
};

/// Inputs read, and what they stand for.
struct Scene {
    Description description;
    Program program;
    Rooms rooms;
};

/// Errors: those of the readers, of program_of() and rooms_of(); invalid_argument for measured
/// figures that are not of the program.
Result<Scene> scene_of(const Inputs& inputs);

}  // namespace gradcoll::mover
