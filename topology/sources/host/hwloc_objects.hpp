// topology/sources/host/hwloc_objects.hpp - turns hwloc's objects into the objects of host paths,
// and owns its sets of CPUs and NUMA nodes. Only files that know hwloc include it.
#pragma once

#include <hwloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// NearGpus says whether a path of CPUs shows GPUs on its way.
enum class NearGpus : std::uint8_t { ignored, shown };

/// Returns the objects from the machine down to `object`, which is no device.
std::vector<HostPath::Object> objects_down_to(hwloc_obj_t object, NearGpus near_gpus);

/// Returns the objects from the machine over PCI bridges down to a device, each under its PCI
/// address, with the figures of PCIe links that hwloc knows.
std::vector<HostPath::Object> objects_down_to_device(hwloc_obj_t pci_device);

/// Returns how many devices the GPU's driver made of it: AMD's partitions and Intel's tiles are
/// system devices of one kind (rsmi0, rsmi1) below one PCI device. It is 1 where none is shown.
std::size_t part_count_of(hwloc_obj_t pci_device);

/// Returns the GPUs by PCI address; none if the topology was loaded without devices.
std::vector<hwloc_obj_t> gpus_of(hwloc_topology_t topology);

/// A Bitmap is never null, except as the result of bitmap_from().
using Bitmap = std::shared_ptr<hwloc_bitmap_s>;

/// Returns an empty bitmap.
Bitmap new_bitmap();

inline constexpr std::uint32_t max_bitmap_bits = 65536;

/// Reads a bitmap as hwloc's files write it: "0x00000003,,0xffffffff", words of 32 bits, the
/// highest first, perhaps behind "0xf...f", which stands for all bits above. hwloc's own reader
/// accepts more, and allocates as many words as the text asks for. Returns null for any other text,
/// or if it has more than max_bitmap_bits.
Bitmap bitmap_from(const char* text);

}  // namespace gradcoll
