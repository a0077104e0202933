// api/calls/gapped_allreduce.hpp - allreduces of elements with gaps between their data, where the
// program may keep something else.
#pragma once

#include "api/calls/call.hpp"

namespace gradcoll {

/// Runs an admitted one over one host, in a copy with gaps and all, and writes the data of the
/// result alone. Allocates. Errors: transport, those of devices and of OneHost::allreduce().
Status run_gapped(const Call& call);

}  // namespace gradcoll
