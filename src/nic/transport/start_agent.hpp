// nic/transport/start_agent.hpp - starts the NIC agent of this host where none runs (GC_NIC=auto).
#pragma once

#include <string>

#include "base/status.hpp"

namespace gradcoll {

/// Runs the gc_nicd of this library's installation in the background, with a socket in `directory`;
/// it ends some time after its last rank has left. Returns when it listens. Errors: io, with what
/// is wrong.
Status start_nic_agent(const std::string& directory);

}  // namespace gradcoll
