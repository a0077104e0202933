// mover/profile/profiled_file.hpp - reads a model from a file with a trace of PyTorch's profiler
// (profiled_step.hpp) or of its execution trace observer (executed_step.hpp).
#pragma once

#include <string>
#include <string_view>

#include "mover/profile/profiled_step.hpp"

namespace gradcoll::mover {

/// Returns whether the file looks like a trace of either kind, or is compressed.
bool is_trace_file(const std::string& path);

/// Reads the model. Errors: io, and those of both kinds.
Result<ProfiledModel> read_profiled_model(std::string_view option, const std::string& path);

}  // namespace gradcoll::mover
