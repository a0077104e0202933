// topology/sources/host/nvml.hpp - asks NVIDIA's management library about a GPU. The library is
// loaded for the question and closed afterwards; its header is not needed.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_links.hpp"

namespace gradcoll {

struct NvmlGpu {
    std::vector<GpuLink> links;    ///< NVLinks that are up, one entry for each target; targets are
                                   ///< named by PCI address
    double pcie_gbytes_per_s = 0;  ///< the most that GPU and slot can do, in each direction; 0: not
                                   ///< known. The link may be slower at the moment, to save power.
};

/// Returns what the library says. `bus_id` is as PciAddress::text() writes it; `library` is a file
/// name or path. Takes up to a second. Thread safe. Errors: unsupported if there is no such
/// library, no driver or no such GPU, with the reason. Source: NVML API reference (device queries,
/// NvLink methods, field values).
Result<NvmlGpu> ask_nvml(const std::string& bus_id,
                         const std::string& library = "libnvidia-ml.so.1");

}  // namespace gradcoll
