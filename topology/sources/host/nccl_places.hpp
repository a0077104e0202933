// topology/sources/host/nccl_places.hpp - what NCCL's topology file names, before ranks are dealt
// to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_links.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// An NcclPlace is something in the host: the host itself (the first), a NUMA node, a PCIe bridge,
/// a GPU.
struct NcclPlace {
    int parent = -1;  ///< index of the parent, which comes before its children
    VertexKind kind = VertexKind::host;
    std::string name;
    Uplink uplink;
    int device = -1;             ///< for a GPU: CUDA's or HIP's number; -1: not known
    std::size_t part_count = 1;  ///< for a GPU: devices that its driver made of it
    std::vector<GpuLink> links;  ///< for a GPU; the file does not say how fast they are
};

/// Returns the places in the order of the text; devices that neither are a GPU nor hold other ones
/// are left out. Errors: as host_from_nccl().
Result<std::vector<NcclPlace>> places_from_nccl(std::string_view xml,
                                                std::vector<std::string>& notes);

}  // namespace gradcoll
