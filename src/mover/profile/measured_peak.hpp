// mover/profile/measured_peak.hpp - the peak of memory in a trace of PyTorch's profiler, to compare
// ours with.
#pragma once

#include <cstdint>
#include <string>

#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

/// MeasuredPeak is the peak of the trace in bytes: in all, and beyond what was there as its last
/// step began and what is a state: gradients, which zero_grad() may have made anew for each step,
/// and what an optimizer makes in its first step.
struct MeasuredPeak {
    std::int64_t bytes = 0;
    double after_us = 0;  ///< since the first event
    std::int64_t of_step = 0;
    std::string
        of_step_in;  ///< the layer, or the optimizer's annotation, that it is in; may be empty
};

/// Returns the peak. Errors: invalid_argument if the trace has no memory (profile_memory=True).
Result<MeasuredPeak> measured_peak(const Trace& trace);

}  // namespace gradcoll::mover
