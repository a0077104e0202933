// mover/files/inputs.hpp - everything that a plan follows from, as it was written. It is stored
// with the plan, so that whoever has the plan can prove it.
#pragma once

#include <string>
#include <vector>

#include "mover/analysis/build.hpp"
#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

/// Measured holds what steps really took; it replaces what the model says.
struct Measured {
    std::vector<std::vector<Tick>> durations;  ///< by rank and operator; empty: as described
    std::vector<std::int64_t>
        bytes_per_second{};  ///< by rank: the rate of its lane, if that is slower than described
};

struct Inputs {
    Document model, parallel, cluster;
    std::int64_t device_bytes = 0;  ///< 0: the cluster's
    MovableKinds kinds{};           ///< the kinds that may move
    Measured measured{};
};

/// A Scene holds the inputs that were read, and the program and rooms made from them.
struct Scene {
    Description description;
    Program program;
    Rooms rooms;
    std::vector<Lane> links{};  ///< by rank: the lane as described, whatever was measured
};

/// Reads the inputs. Errors: those of the readers, of program_of() and rooms_of(); invalid_argument
/// if measured figures do not belong to the program.
Result<Scene> scene_of(const Inputs& inputs);

}  // namespace gradcoll::mover
