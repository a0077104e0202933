// mover/files/inputs.hpp - everything that a plan follows from, as it was written: it goes along
// with the plan, so that whoever has the plan can prove it.
#pragma once

#include <string>

#include "mover/analysis/build.hpp"

namespace gradcoll::mover {

struct Inputs {
    Document model, parallel, cluster;
    std::int64_t device_bytes = 0;  ///< 0: the cluster's
};

/// Inputs read, and what they stand for.
struct Scene {
    Description description;
    Program program;
    Rooms rooms;
};

/// Errors: those of the readers, of program_of() and rooms_of().
Result<Scene> scene_of(const Inputs& inputs);

}  // namespace gradcoll::mover
