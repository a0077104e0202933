#include "nic/agent/wire_backlog.hpp"

// The C library's header has only the first fields of what the system tells of a connection.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace gradcoll {

std::uint64_t backlog_ns(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    const bool is_told =
        size >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate;
    if (!is_told || info.tcpi_delivery_rate == 0) return 0;
    const auto rate = static_cast<double>(info.tcpi_delivery_rate);
    const double bytes = static_cast<double>(info.tcpi_notsent_bytes) +
                         static_cast<double>(info.tcpi_unacked) * info.tcpi_snd_mss;
    const double ns = bytes / rate * 1e9 - static_cast<double>(info.tcpi_min_rtt) * 1e3;
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}

}  // namespace gradcoll
