// topology/sources/host/sources.hpp - the ways to learn how hosts look inside, and how to tell
// their files. For the table of sources alone.
#pragma once

#include "topology/files.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// Each rank asks hwloc where it is bound. Hosts whose ranks did not are flat.
MakeTreeSource hwloc_source;

/// Every host looks like this hwloc string, or this hwloc XML file.
MakeTreeSource synthetic_source;
MakeTreeSource hwloc_xml_source;
bool holds_hwloc_xml(const PathContent& content);

/// A hosts file or folder describes each host (see HostsFile). Ranks of a host that is not
/// described are right below it, with a note; if that is so for all hosts, that is an error.
MakeTreeSource hosts_source;
bool is_folder(const PathContent& content);

/// Every host looks like this NCCL topology file; ranks are dealt to its GPUs.
MakeTreeSource nccl_source;
bool holds_nccl_xml(const PathContent& content);

/// As hwloc_xml_source(), nccl_source() or else hosts_source(), whatever the path holds, but ranks
/// are dealt to GPUs.
MakeTreeSource gpus_source;

}  // namespace gradcoll
