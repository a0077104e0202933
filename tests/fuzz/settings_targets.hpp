// fuzz/settings_targets.hpp - every parser of settings, fed with any bytes, and what must hold for
// the answer.
#pragma once

#include <span>

#include "fuzz/runner.hpp"

namespace gradcoll::fuzz {

std::span<const Target> settings_targets();

}  // namespace gradcoll::fuzz
