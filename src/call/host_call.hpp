// call/host_call.hpp - calls that only the memory of one host serves: barrier, broadcast,
// reduce (docs/decisions/018-more-collectives.md).
#pragma once

#include "call/cached_call.hpp"
#include "call/host_admission.hpp"

namespace gradcoll {

/// Serves the call, or counts it as passed, and never returns Shortcut::no. All ranks decide alike
/// which of the two it is, except a rank whose own arguments are wrong, which the MPI library then
/// refuses. Attaches the communicator at the call that makes this pay; that call is collective, as
/// is every call with gc_check=collective. `status` says how a served call ended.
Shortcut run_host_call(const HostCall& call, Status& status);

}  // namespace gradcoll
