// call/host_call.hpp - calls that only the memory of one host serves: barrier, broadcast,
// reduce (docs/decisions/018-more-collectives.md).
#pragma once

#include "call/host_admission.hpp"
#include "call/known_call.hpp"

namespace gradcoll {

/// Serves the call, or counts it as passed: to do so is decided on what all ranks know alike, but
/// for a rank whose own arguments are wrong, which the MPI library then refuses. Attaches the
/// communicator at the call that makes it pay; then, and with gc_check=collective, collective.
/// `status`: how a served call ended. Never Known::no.
Known run_host_call(const HostCall& call, Status& status);

}  // namespace gradcoll
