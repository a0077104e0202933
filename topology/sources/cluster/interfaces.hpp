// topology/sources/cluster/interfaces.hpp - what the system says of this machine's way to others.
#pragma once

#include <filesystem>

namespace gradcoll {

/// The rate of the fastest network interface or InfiniBand port of this machine, in GB/s; 0 if no
/// one says. Virtual interfaces tell something, too, which need not be so. `classes`: where Linux
/// lists devices by class.
double fastest_interface_gbytes_per_s(const std::filesystem::path& classes = "/sys/class");

}  // namespace gradcoll
