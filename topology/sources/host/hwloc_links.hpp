// topology/sources/host/hwloc_links.hpp - reads links between GPUs from hwloc's XML files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/host/gpu_links.hpp"

namespace gradcoll {

/// Returns what the matrices NVLinkBandwidth, XGMIBandwidth and XeLinkBandwidth say, by the PCI
/// address of each GPU as PciAddress::text() writes it; switches are named in the same way. Links
/// to CPUs, and between the parts of one GPU, are left out; of those that several parts report the
/// fastest counts. hwloc itself never sees them (checked_hwloc_xml() drops them), so `xml` is
/// not trusted: a matrix that contradicts itself, or has more than 1024 objects, is ignored.
std::map<std::string, std::vector<GpuLink>> gpu_links_in_hwloc_xml(std::string_view xml);

}  // namespace gradcoll
