// mover/input/cluster.hpp - the machines: devices, memories, links. All hosts are alike.
#pragma once

#include <cstdint>

#include "mover/input/fields.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

// Gigabytes a second that are read.
inline constexpr double fastest_link = 1e6;
inline constexpr double slowest_link = 1e-3;

struct Cluster {
    std::int64_t devices_per_host = 1;
    std::int64_t device_memory = 0;  ///< bytes
    std::int64_t host_memory = 0;    ///< bytes that may be pinned in a host
    double device_tflops = 0;        ///< of 16-bit matrix products, at best
    double device_efficiency = 0.5;  ///< the part of it that operators reach
    double device_memory_gbytes_per_s = 0;
    /// Between device and host, each direction.
    double link_gbytes_per_s = 0;
    double link_latency_us = 10;
    std::int64_t devices_per_link = 1;    ///< behind one PCIe root
    bool link_both_ways = true;           ///< carries its rate in both directions at once
    double host_memory_gbytes_per_s = 0;  ///< of all moves of a host together; 0: not a limit
    /// Between devices of one tensor-parallel group, and between hosts, a device.
    double tensor_gbytes_per_s = 0;
    double network_gbytes_per_s = 0;
    double network_latency_us = 10;
    bool network_over_link = false;  ///< what devices send to others passes their links
};

/// docs/schemas/mover-cluster.json. Errors: invalid_argument.
Result<Cluster> own_cluster(const Document& document);

/// A device's share of its link and of its host's memory, when all others use theirs as well.
Lane lane_of(const Cluster& cluster);

}  // namespace gradcoll::mover
