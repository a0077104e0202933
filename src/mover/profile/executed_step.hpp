// mover/profile/executed_step.hpp - reads a model, for the planner, from the training step in an
// execution trace of PyTorch, which knows all tensors and no times.
#pragma once

#include "mover/profile/execution_trace.hpp"
#include "mover/profile/profiled_step.hpp"

namespace gradcoll::mover {

/// Returns the layers of the trace's last step (step_layers.hpp).
/// - A layer keeps the storages that its operators made and that something after the last forward
///   reads before it is made anew.
/// - forward_flops are those of its matrix products, convolutions and attention.
/// - parameters are the shapes of what gradients were accumulated for.
/// - The trace has no times and no ends of memory: times are the cluster's, and workspace is none.
/// Errors: invalid_argument if there are no layers, or if the step runs graphs of torch.compile or
/// autograd functions that do not show what they keep.
Result<ProfiledModel> model_of_execution_trace(const ExecutionTrace& trace);

}  // namespace gradcoll::mover
