#include "nic/agent/addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <memory>

namespace gradcoll {

NicEndpoint endpoint_of_this_host(std::uint16_t port) {
    NicEndpoint endpoint;
    endpoint.port = port;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return endpoint;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
    for (const bool loop : {false, true})
        for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
            const bool is_loop = (at->ifa_flags & IFF_LOOPBACK) != 0;
            if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET ||
                (at->ifa_flags & IFF_UP) == 0 || is_loop != loop ||
                endpoint.address_count == NicEndpoint::most_addresses)
                continue;
            endpoint.addresses[endpoint.address_count++] =
                reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr.s_addr;
        }
    return endpoint;
}

}  // namespace gradcoll
