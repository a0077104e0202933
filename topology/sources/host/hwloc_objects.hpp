// topology/sources/host/hwloc_objects.hpp - hwloc's objects as the objects of host paths. For
// machine.cpp alone.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <vector>

#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Whether a path of CPUs shows GPUs on its way.
enum class NearGpus : std::uint8_t { ignored, shown };

/// From the machine down to `object`, which is no device.
std::vector<HostPath::Object> objects_down_to(hwloc_obj_t object, NearGpus near_gpus);

/// From the machine over PCI bridges down to a device, each under its PCI address, with the figures
/// of PCIe links that hwloc knows.
std::vector<HostPath::Object> objects_down_to_device(hwloc_obj_t pci_device);

/// By PCI address; none if the topology was loaded without devices.
std::vector<hwloc_obj_t> gpus_of(hwloc_topology_t topology);

}  // namespace gradcoll
