// runtime/operation_label.hpp - an operation in a few words, for the trace.
#pragma once

#include <string>

#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// "allreduce 64 MiB fp32 2:4", with the codecs of this rank's messages; several: "exact+2:4".
std::string operation_label(const Plan& plan);

}  // namespace gradcoll
