// nic/ask.hpp - asks the NIC agent of this host how it is.
#pragma once

#include <string>

#include "base/status.hpp"

namespace gradcoll {

/// Returns JSON. Errors: io if there is no agent, or it is another user's; transport, corrupt.
Result<std::string> status_of_nic_agent(const std::string& directory);

}  // namespace gradcoll
