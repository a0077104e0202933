// topology/sources/host/gpu_links.hpp - links between GPUs beside PCIe (NVLink, XGMI, Xe link), and
// the sets of GPUs that they make equally near. Pure: no hwloc, no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradcoll {

/// Vertices of such sets have this name.
inline constexpr const char* gpu_links_name = "GPU links";

struct GpuLink {
    std::string target;       ///< name of the GPU or the switch at the other end
    bool to_switch = false;   ///< the target is an NVSwitch
    double gbytes_per_s = 0;  ///< in each direction, all cables to the target; 0: not known
};

struct LinkedGpu {
    std::string name;
    std::vector<GpuLink> links;
    std::vector<std::uint64_t> above = {};  ///< PCIe objects above it, from the host down
};

struct GpuIsland {
    std::vector<std::size_t> members;  ///< ascending indices, at least two
    std::vector<double> gbytes_per_s;  ///< by member: to the others together; 0: not known
};

struct GpuIslands {
    std::vector<GpuIsland> islands;  ///< in the order of their first members
    std::string note;                ///< on GPUs that links join, but not each with each; or empty
};

/// Finds the islands. An island is a set of GPUs that links join each with each, or all with one
/// switch. If links join a set of GPUs in another way, the same is tried with its parts below each
/// place of PCIe, and so on: eight GPUs in a mesh of cubes are two islands of four, those of each
/// package. Links to GPUs that are not in `gpus` are ignored; a link counts if one of its ends
/// reports it. The result depends only on `gpus` and their order. Complexity: near linear in the
/// links, times the levels of PCIe.
GpuIslands islands_of(std::span<const LinkedGpu> gpus);

}  // namespace gradcoll
