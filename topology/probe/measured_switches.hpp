// topology/probe/measured_switches.hpp - the tree between hosts from nothing but measurements.
#pragma once

#include <span>
#include <string>

#include "topology/fabric/switch_tree.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Hosts are called `host_names[i]`, which are different from each other; at least one. Switches
/// are called "probed0" (the root), "probed1", ... Up to eight hosts: by bulk first, one pair at a
/// time, then by latency; more: by latency first (see steps.hpp), then by bulk. With quick effort
/// up to 64 hosts: by bulk alone, many pairs at a time. Where nothing stands apart clearly, hosts
/// are side by side. Notes say how much was measured, and if the ruler's time was spent before all
/// was. Errors: those of the ruler.
Result<SwitchTree> measured_switches(Ruler& ruler, std::span<const std::string> host_names,
                                     ProbeEffort effort);

}  // namespace gradcoll
