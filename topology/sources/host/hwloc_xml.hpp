// topology/sources/host/hwloc_xml.hpp - reads hwloc's XML files: checks them before hwloc sees
// them, as hwloc 2.9 trusts them and crashes on ones that contradict themselves; rewrites versions
// 1 and 3 as version 2, because hwloc 2 refuses version 3, and hwloc 3 version 1; finds links
// between GPUs.
#pragma once

#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_links.hpp"

namespace gradcoll {

/// Writes the same machine anew, with nothing but what was checked: objects, their sets, numbers,
/// names and infos. Distances, memory attributes, kinds of CPUs, Misc objects and user data are
/// left out. Accepts versions 1, 2 and 3 of the format; the result has version 2. `xml` is not
/// trusted. Errors (invalid_argument, with the line): no XML; a type that hwloc 2.9 does not know;
/// a set that is missing, malformed, beyond 65536 bits or not within its parent's; siblings that
/// share CPUs; an object without CPUs, except memory; a PU or NUMA node whose number and set
/// differ, or that is there twice; devices or memory that hold CPUs; a machine without CPUs or
/// (from version 2 on) without memory; more than 64 MiB, 128 levels or 2^20 objects. Complexity:
/// linear in the text, times the depth for the sets.
Result<std::string> checked_hwloc_xml(std::string_view xml);

/// Returns the version that <topology> states, 1 to 3; nothing for any other.
std::optional<int> hwloc_xml_version(const pugi::xml_node& topology);

/// Rewrites the <topology> of that version as one of version 2. Nothing is checked: what a hostile
/// file says wrongly, it still says afterwards.
/// Version 1: NUMA nodes hold CPUs (here a Group holds them, beside its NUMANode), or have no
/// memory (here only the Group is left); caches and packages have other names; objects may lack
/// sets of NUMA nodes; there may be no node at all (here one has all memory).
/// Version 3: types of system devices are bits, and the host's name is an info of the topology.
/// Complexity: linear. Source: hwloc's NEWS and its readers of versions 2.9 and 3.0.
void rewrite_as_version_2(pugi::xml_node topology, int version);

/// Returns what the matrices NVLinkBandwidth, XGMIBandwidth and XeLinkBandwidth say, by the PCI
/// address of each GPU as PciAddress::text() writes it; switches are named in the same way. Links
/// to CPUs, and between the parts of one GPU, are left out; of those that several parts report the
/// fastest counts. hwloc itself never sees them (checked_hwloc_xml() drops them), so `xml` is
/// not trusted: a matrix that contradicts itself, or has more than 1024 objects, is ignored.
std::map<std::string, std::vector<GpuLink>> gpu_links_in_hwloc_xml(std::string_view xml);

}  // namespace gradcoll
