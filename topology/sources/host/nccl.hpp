// topology/sources/host/nccl.hpp - one host as NCCL's topology file describes it (NCCL_TOPO_FILE,
// NCCL_TOPO_DUMP_FILE). Calls no MPI, needs no GPU.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// host > NUMA node > PCIe bridges > GPU > ranks, without what has no ranks below it. The ranks are
/// dealt one each to the GPUs, in the order of their device numbers if all have one, else of the
/// text; round robin when there are more. But where `gpus` say which one each rank uses (PCI
/// address, see dealt_to_gpus()) the ranks are there. A file that names no GPU: in even
/// shares to its NUMA nodes, with a note.
/// GPUs that NVLink or XGMI joins each with each (or all with one NVSwitch) are a `group` at the
/// lowest place that holds them all. Links: PCIe rate x width without its encoding, each direction;
/// what the file leaves open, or states but no GPU has (one lane, 2.5 GT/s), is not known, the
/// latter with a note. The host has no name. `xml` is not trusted. Errors: invalid_argument with
/// line and what was expected. Complexity: near linear. Source: recorded files of AWS, Azure and
/// AMD (tests/golden/topologies/nccl).
Result<TreeSpec> host_from_nccl(std::string_view xml, std::span<const int> ranks,
                                std::vector<std::string>& notes,
                                std::span<const std::string> gpus = {});

}  // namespace gradcoll
