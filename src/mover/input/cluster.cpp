// mover/input/cluster.cpp - reads docs/schemas/mover-cluster.json.
#include "mover/input/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradcoll::mover {
namespace {

constexpr double longest_latency_us = 1e6;

}  // namespace

Result<Cluster> own_cluster(const Document& document) {
    Cluster out;
    Fields in(document.json, document.origin);
    in.require({"device_memory", "host_memory", "device_tflops", "device_memory_gbytes_per_s",
                "link_gbytes_per_s"});
    in.integer("devices_per_host", 1, 4096, out.devices_per_host);
    in.bytes("device_memory", 1, most_bytes, out.device_memory);
    in.bytes("host_memory", 0, most_bytes, out.host_memory);
    in.number("device_tflops", 1e-6, 1e6, out.device_tflops);
    in.number("device_efficiency", 0.01, 1, out.device_efficiency);
    in.number("device_memory_gbytes_per_s", slowest_link, fastest_link,
              out.device_memory_gbytes_per_s);
    in.number("link_gbytes_per_s", slowest_link, fastest_link, out.link_gbytes_per_s);
    in.number("link_latency_us", 0, longest_latency_us, out.link_latency_us);
    in.number("move_us", 0, longest_latency_us, out.move_us);
    in.integer("devices_per_link", 1, 4096, out.devices_per_link);
    in.flag("link_both_ways", out.link_both_ways);
    in.number("host_memory_gbytes_per_s", slowest_link, fastest_link, out.host_memory_gbytes_per_s);
    out.tensor_gbytes_per_s = out.network_gbytes_per_s = out.link_gbytes_per_s;
    in.number("tensor_gbytes_per_s", slowest_link, fastest_link, out.tensor_gbytes_per_s);
    in.number("network_gbytes_per_s", slowest_link, fastest_link, out.network_gbytes_per_s);
    in.number("network_latency_us", 0, longest_latency_us, out.network_latency_us);
    in.flag("network_over_link", out.network_over_link);
    GRADCOLL_TRY(in.done());
    if (out.devices_per_host % out.devices_per_link != 0)
        in.wrong("devices_per_link",
                 fmt::format("allowed are divisors of devices_per_host, {}", out.devices_per_host));
    GRADCOLL_TRY(in.done());
    return out;
}

Lane lane_of(const Cluster& cluster) {
    double rate = cluster.link_gbytes_per_s / static_cast<double>(cluster.devices_per_link);
    // Reads and writes of all devices share the host's memory.
    const double ways = cluster.link_both_ways ? 2 : 1;
    if (cluster.host_memory_gbytes_per_s > 0)
        rate = std::min(rate, cluster.host_memory_gbytes_per_s /
                                  (ways * static_cast<double>(cluster.devices_per_host)));
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(rate * 1e9)),
            ticks_of_seconds(cluster.link_latency_us * 1e-6)};
}

}  // namespace gradcoll::mover
