// nic/agent/addresses.hpp - at which addresses other hosts find this one.
#pragma once

#include "nic/control.hpp"

namespace gradcoll {

/// Returns the IPv4 addresses of interfaces that are up; those of the host's own loop come last.
NicEndpoint endpoint_of_this_host(std::uint16_t port);

}  // namespace gradcoll
