// mover/profile/profiled_step.hpp - reads the training step in a trace of PyTorch's profiler: its
// layers, for the planner, and its memory, to compare ours with.
#pragma once

#include "mover/input/fields.hpp"
#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

/// Returns a model of listed layers in our own form (docs/schemas/mover-model.json), from the last
/// step of the trace. A layer is what the program ran under a record_function() of that name that
/// is in no other; ProfilerStep# and Optimizer. are not layers. Its backward is what autograd ran
/// for nodes that its forward made: both have the same sequence number.
/// - Its times are those of its kernels, or without a device those of its operators.
/// - It keeps what was allocated in its forward and freed after the last forward: one "sample"
///   is the micro-batch that was profiled.
/// - workspace_bytes are what was in use at most while it ran, beyond that and what layers before
///   it keep; gradients that are new after each step are left out.
/// - parameters are the shapes of what gradients were accumulated for, if shapes were recorded.
/// Errors: invalid_argument if there is no such name or no backward.
Result<Document> layers_of_trace(const Trace& trace);

/// MeasuredPeak is the peak of the trace in bytes: in all, and beyond what was there as its last
/// step began.
struct MeasuredPeak {
    std::int64_t bytes = 0;
    double after_us = 0;  ///< since the first event
    std::int64_t of_step = 0;
};

/// Returns the peak. Errors: invalid_argument if the trace has no memory (profile_memory=True).
Result<MeasuredPeak> measured_peak(const Trace& trace);

}  // namespace gradcoll::mover
