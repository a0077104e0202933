// api/interposed/gate.hpp - the smallest counts that the interposer offers at all: saves the way
// through the core for calls that would pass anyway.
#pragma once

#include "base/interposer_table.h"
#include "settings/intercept_set.hpp"

namespace gradcoll {

/// Returns GC_ENABLE of this process; intercepted_calls() is GC_INTERCEPT. All functions here are
/// thread safe.
bool interposer_enabled();
const InterceptSet& intercepted_calls();

/// Keeps `gate` up to date from now on, so that calls that some communicator serves are offered.
void open_gate(GC_Gate* gate);

/// Says whether there are persistent requests that were served: their starts must be offered, also
/// while interception is off.
void offer_starts(bool wanted);

/// Does what MPI_Pcontrol asks for: while it is off, all new calls pass.
void set_interception(bool on);
bool interception_is_on();

}  // namespace gradcoll
