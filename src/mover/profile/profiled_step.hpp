// mover/profile/profiled_step.hpp - reads a model, for the planner, from the training step in a
// trace of PyTorch's profiler.
#pragma once

#include <string>

#include "mover/input/fields.hpp"
#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

struct ProfiledModel {
    Document model;     ///< listed layers in our own form, docs/schemas/mover-model.json
    std::string found;  ///< lines for people: which layers were found, and what was left out
};

/// Returns the layers of the trace's last step (step_layers.hpp).
/// - A layer's times are those of its kernels, or without a device those of its operators, without
///   what is no work of layers.
/// - It keeps what was allocated in its forward and freed after the last forward: one "sample"
///   is the micro-batch that was profiled.
/// - workspace_bytes are what was in use at most while it ran, beyond that and what layers before
///   it keep; gradients that are new after each step are left out.
/// - parameters are the shapes of what gradients were accumulated for, if shapes were recorded.
/// Errors: invalid_argument if there are no layers.
Result<ProfiledModel> model_of_trace(const Trace& trace);

}  // namespace gradcoll::mover
