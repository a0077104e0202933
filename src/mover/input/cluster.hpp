// mover/input/cluster.hpp - the machines: devices, memories, links. All hosts are alike.
#pragma once

#include <cstdint>

#include "mover/input/fields.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

// Rates of links are read within these bounds, in gigabytes a second.
inline constexpr double fastest_link = 1e6;
inline constexpr double slowest_link = 1e-3;

struct Cluster {
    std::int64_t devices_per_host = 1;
    std::int64_t device_memory = 0;  ///< bytes
    std::int64_t host_memory = 0;    ///< bytes that may be pinned in a host
    double device_tflops = 0;        ///< peak rate of 16-bit matrix products
    double device_efficiency = 0.5;  ///< the part of it that operators reach
    double device_memory_gbytes_per_s = 0;
    /// The link between device and host has this rate in each direction.
    double link_gbytes_per_s = 0;
    double link_latency_us = 10;
    double move_us = 0;  ///< of the program's time, for each tensor that leaves and comes back
    std::int64_t devices_per_link = 1;  ///< devices behind one PCIe root
    bool link_both_ways = true;         ///< whether it carries its rate in both directions at once
    double host_memory_gbytes_per_s = 0;  ///< for all moves of a host together; 0: no limit
    /// One device has these rates to others of its tensor-parallel group, and to other hosts.
    double tensor_gbytes_per_s = 0;
    double network_gbytes_per_s = 0;
    double network_latency_us = 10;
    bool network_over_link =
        false;  ///< whether data sent to other devices passes the device-host link
};

/// Reads docs/schemas/mover-cluster.json. Errors: invalid_argument.
Result<Cluster> own_cluster(const Document& document);

/// Returns a device's share of its link and of its host's memory, when all others use theirs as
/// well. If the link does not carry both directions at once, the share is for one at a time.
Lane lane_of(const Cluster& cluster);

}  // namespace gradcoll::mover
