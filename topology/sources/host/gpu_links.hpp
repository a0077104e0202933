// topology/sources/host/gpu_links.hpp - links of GPUs to each other beside PCIe (NVLink, XGMI, Xe
// link), and the sets of GPUs that they make equally near. Pure: no hwloc, no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradcoll {

/// What vertices of such sets are called.
inline constexpr const char* gpu_links_name = "GPU links";

struct GpuLink {
    std::string target;       ///< name of the GPU or the switch at the other end
    bool to_switch = false;   ///< NVSwitch
    double gbytes_per_s = 0;  ///< each direction, all cables that lead there; 0: not known
};

struct LinkedGpu {
    std::string name;
    std::vector<GpuLink> links;
    std::vector<std::uint64_t> above = {};  ///< what it hangs below over PCIe, from the host down
};

struct GpuIsland {
    std::vector<std::size_t> members;  ///< ascending indexes, at least two
    std::vector<double> gbytes_per_s;  ///< of each member to the others together; 0: not known
};

struct GpuIslands {
    std::vector<GpuIsland> islands;  ///< in the order of their first members
    std::string note;                ///< on GPUs that links join, but not each with each; or empty
};

/// An island are GPUs that links join each with each, or all with one switch. Where links join a
/// set of GPUs otherwise, its parts below one place of PCIe are looked at in the same way, and so
/// on: eight GPUs in a mesh of cubes are two islands of four, those of each package. Links to GPUs
/// that are not in `gpus` do not count; one end's word for a link is enough. The answer depends on
/// `gpus` and their order alone. Complexity: near linear in the links, times the levels of PCIe.
GpuIslands islands_of(std::span<const LinkedGpu> gpus);

}  // namespace gradcoll
