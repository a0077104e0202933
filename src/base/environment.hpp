// base/environment.hpp - variables that are not settings of ours, such as a scheduler's.
#pragma once

#include <string>

namespace gradcoll {

/// Empty if the variable is not set. Not thread safe against setenv(). Defined beside the settings,
/// so that one file reads the environment.
std::string foreign_variable(const char* name);

}  // namespace gradcoll
