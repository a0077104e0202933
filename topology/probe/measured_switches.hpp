// topology/probe/measured_switches.hpp - builds the tree between hosts from measurements alone.
#pragma once

#include <span>
#include <string>

#include "fabric/switch_tree.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// A MeasuredTree is what measurements say.
struct MeasuredTree {
    SwitchTree tree;
    bool disturbed = false;  ///< whether hosts were too busy to measure: the tree may be wrong
};

/// Measures the tree between hosts. `host_names[i]` is the name of host i; names are different, and
/// there is at least one. Switches are called "probed0" (the root), "probed1", ... Up to eight
/// hosts are measured by bulk first, one pair at a time, then by latency; more by latency first
/// (see steps.hpp), then by bulk. With quick effort up to 64 hosts are measured by bulk alone, many
/// pairs at a time. Hosts between which no clear difference shows are siblings. Notes say how much
/// was measured, and whether the ruler's time was spent before the end. Errors: those of the ruler.
Result<MeasuredTree> measured_switches(Ruler& ruler, std::span<const std::string> host_names,
                                       ProbeEffort effort);

}  // namespace gradcoll
