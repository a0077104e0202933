// topology/sources/host/gpu_places.hpp - puts ranks below the GPUs that they use. Pure: no hwloc,
// no MPI.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "topology/sources/host/gpu_links.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// A RankGpu is the GPU that a rank uses, as the rank sees it.
struct RankGpu {
    std::string bus_id;  ///< as PciAddress::text() writes it; empty: the rank uses none
    std::vector<HostPath::Object> path;  ///< from the machine down to the GPU, which is the last;
                                         ///< empty: hwloc does not show it
    std::vector<GpuLink> links;          ///< links to other GPUs of the host, named by their bus_id
    std::size_t part_count = 1;          ///< devices that a partitioned GPU shows at its address
};

/// Returns the places of the GPUs of one host, each once: its path, or below an island if links
/// join it to others (see islands_of()). An island hangs where the PCIe paths of its members part,
/// and its members' uplinks are their links to each other. Every gpus[i].path ends with a GPU.
/// `notes` say if links join GPUs but make no island.
std::vector<std::vector<HostPath::Object>> gpu_places(std::span<const RankGpu> gpus,
                                                      std::vector<std::string>& notes);

/// Rewrites paths[i] to end at the GPU gpus[i], for one host's ranks, in their order; ranks without
/// one keep theirs. What the lowest rank that saw a GPU says of it counts for all. A GPU that hwloc
/// showed to none of its ranks hangs at the smallest object that holds all of their bindings.
void place_on_gpus(std::span<HostPath> paths, std::span<const RankGpu> gpus,
                   std::vector<std::string>& notes);

/// Returns which of the described GPUs each rank of a host takes, by index: the one that it uses,
/// if each rank says which it uses and all of these are described; else in order, round robin.
/// `used` is empty or has an entry for each rank. Needs a GPU.
std::vector<std::size_t> dealt_to_gpus(std::size_t rank_count, std::span<const std::string> used,
                                       std::span<const std::string> described);

}  // namespace gradcoll
