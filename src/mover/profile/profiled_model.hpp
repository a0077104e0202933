// mover/profile/profiled_model.hpp - reads a model, for the planner, from a training step: of a
// trace of PyTorch's profiler, of its execution trace, which knows all tensors and no times, or of
// a file with either.
#pragma once

#include <string>
#include <string_view>

#include "mover/input/fields.hpp"
#include "mover/profile/execution_trace.hpp"
#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

struct ProfiledModel {
    Document model;     ///< listed layers in our own form, docs/schemas/mover-model.json
    std::string found;  ///< lines for people: which layers were found, and what was left out
};

/// Returns the layers of the last step of a trace of the profiler (step_layers.hpp).
/// - A layer's times are those of its kernels, or without a device those of its operators, without
///   what is no work of layers.
/// - It keeps what was allocated in its forward and freed after the last forward: one "sample"
///   is the micro-batch that was profiled.
/// - workspace_bytes are what was in use at most while it ran, beyond that and what layers before
///   it keep; gradients that are new after each step are left out.
/// - parameters are the shapes of what gradients were accumulated for, if shapes were recorded.
/// Errors: invalid_argument if there are no layers.
Result<ProfiledModel> model_of_trace(const Trace& trace);

/// Returns the layers of the last step of an execution trace (step_layers.hpp).
/// - A layer keeps the storages that its operators made and that something after the last forward
///   reads before it is made anew.
/// - forward_flops are those of its matrix products, convolutions and attention.
/// - parameters are the shapes of what gradients were accumulated for.
/// - The trace has no times and no ends of memory: times are the cluster's, and workspace is none.
/// Errors: invalid_argument if there are no layers, or if the step runs graphs of torch.compile or
/// autograd functions that do not show what they keep.
Result<ProfiledModel> model_of_execution_trace(const ExecutionTrace& trace);

/// Returns whether the file looks like a trace of either kind, or is compressed.
bool is_trace_file(const std::string& path);

/// Reads the model. Errors: io, and those of both kinds.
Result<ProfiledModel> read_profiled_model(std::string_view option, const std::string& path);

}  // namespace gradcoll::mover
