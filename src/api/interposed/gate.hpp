// api/interposed/gate.hpp - the smallest counts that the interposer offers at all: saves the way
// through the core for calls that it would leave anyway.
#pragma once

#include "api/settings/settings.hpp"
#include "base/interposer_table.h"

namespace gradcoll {

/// From now on `gate` is kept up to date. All here is thread safe.
void open_gate(GC_Gate* gate);

/// A communicator has these settings now: calls that they serve must be offered. `all_sizes`: also
/// the shortest.
void widen_gate_for(const Settings& settings, bool all_sizes);

/// Whether there are persistent requests that were served: their starts must be seen, also while
/// interception is off.
void offer_starts(bool wanted);

/// MPI_Pcontrol: off leaves all new calls.
void set_interception(bool on);
bool interception_is_on();

}  // namespace gradcoll
