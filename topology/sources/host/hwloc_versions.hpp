// topology/sources/host/hwloc_versions.hpp - hwloc's XML files have versions 1, 2 and 3, of which
// no hwloc reads all: hwloc 2 refuses version 3, and hwloc 3 version 1.
#pragma once

#include <optional>
#include <pugixml.hpp>

namespace gradcoll {

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

}  // namespace gradcoll
