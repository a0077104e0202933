// topology/sources/nccl_places.hpp - what NCCL's topology file names, before ranks are dealt to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Something in the host: the host itself (the first), NUMA nodes, PCIe bridges, GPUs.
struct NcclPlace {
    int parent = -1;  ///< stands before its children
    VertexKind kind = VertexKind::host;
    std::string name;
    Uplink uplink;
    int device = -1;                    ///< of a GPU: CUDA's or HIP's number; -1: not known
    std::vector<std::string> joined;    ///< of a GPU: names of those that its own links lead to
    std::vector<std::string> switches;  ///< of a GPU: the NVSwitches that its links lead to
};

/// In the order of the text; devices that are neither a GPU nor hold other ones are left out.
/// Errors: as host_from_nccl().
Result<std::vector<NcclPlace>> places_from_nccl(std::string_view xml,
                                                std::vector<std::string>& notes);

}  // namespace gradcoll
