// nic/agent/wire_backlog.hpp - how long a connection has enough to send.
#pragma once

#include <cstdint>

namespace gradcoll {

/// Returns for how many nanoseconds the wire is busy with what the other end does not have yet, at
/// the rate that the system has seen last, less the shortest way there and back; 0 if that is not
/// known, or the socket is not TCP's. It is a call of the system.
std::uint64_t backlog_ns(int socket);

}  // namespace gradcoll
