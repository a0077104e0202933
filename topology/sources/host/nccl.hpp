// topology/sources/host/nccl.hpp - reads one host from NCCL's topology file (NCCL_TOPO_FILE,
// NCCL_TOPO_DUMP_FILE): what it names, and ranks dealt to that. Calls no MPI, needs no GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_links.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns host > NUMA node > PCIe bridges > GPU > ranks, without what has no ranks below it. Ranks
/// are dealt one each to the GPUs (to each part of a partitioned one), in the order of their device
/// numbers if all have one, else of the text; round robin when there are more. If `gpus` say which
/// one each rank uses (PCI address, see dealt_to_gpus()), the ranks are there instead. If the file
/// names no GPU, ranks are spread evenly over its NUMA nodes, with a note. GPUs that NVLink or XGMI
/// joins each with each (or all with one NVSwitch) are a `group` at the lowest place that holds
/// them all. Links have PCIe's rate x width without its encoding, in each direction. A link is
/// unknown if the file leaves it open, or if it states what no GPU has (one lane, 2.5 GT/s), the
/// latter with a note. A GPU whose link to its CPU (c2c) carries more than PCIe is right below the
/// CPU. Of several hosts, which NCCL dumps where NVLink joins them, the first is taken. The host
/// has no name. `xml` is not trusted. Errors: invalid_argument with line and what was expected.
/// Complexity: near linear. Source: recorded files of AWS, Azure and AMD
/// (tests/golden/topologies/nccl).
Result<TreeSpec> host_from_nccl(std::string_view xml, std::span<const int> ranks,
                                std::vector<std::string>& notes,
                                std::span<const std::string> gpus = {});

/// Returns how many ranks get a place of their own: one on each device, or on each NUMA node if the
/// file names no GPU. Errors: as host_from_nccl().
Result<std::size_t> count_nccl_places(std::string_view xml);

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
