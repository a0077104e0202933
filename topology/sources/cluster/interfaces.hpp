// topology/sources/cluster/interfaces.hpp - what the system says of this machine's network
// interfaces.
#pragma once

#include <filesystem>

namespace gradcoll {

/// Returns the rate of the fastest network interface or InfiniBand port of this machine, in GB/s; 0
/// if no one states a rate. The rate of a virtual interface counts, too, but may be wrong.
/// `classes` is where Linux lists devices by class.
double fastest_interface_gbytes_per_s(const std::filesystem::path& classes = "/sys/class");

}  // namespace gradcoll
