// topology/sources/host/hwloc_xml.hpp - checks hwloc's XML files before hwloc sees them: hwloc 2.9
// trusts them and crashes on ones that contradict themselves.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

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

}  // namespace gradcoll
