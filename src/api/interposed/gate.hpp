// api/interposed/gate.hpp - the smallest counts that the interposer offers at all: saves the way
// through the core for calls that would pass anyway.
#pragma once

#include "base/interposer_table.h"
#include "settings/intercept_set.hpp"

namespace gradcoll {

/// GC_ENABLE and GC_INTERCEPT of this process. All here is thread safe.
bool interposer_enabled();
const InterceptSet& intercepted_calls();

/// From now on `gate` is kept up to date: calls that a communicator serves are offered.
void open_gate(GC_Gate* gate);

/// Whether there are persistent requests that were served: their starts must be seen, also while
/// interception is off.
void offer_starts(bool wanted);

/// MPI_Pcontrol: off, all new calls pass.
void set_interception(bool on);
bool interception_is_on();

}  // namespace gradcoll
