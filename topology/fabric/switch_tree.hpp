// topology/fabric/switch_tree.hpp - a fabric as a tree of (virtual) switches, and the hosts of a
// job hung below it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct SwitchTree {
    struct Switch {
        std::string name;  ///< of a virtual switch: its members, as a host list ("s[4-7]")
        int parent = -1;   ///< index below its own; -1 for the root, which is switch 0
        Uplink uplink;     ///< all cables to the parent together
    };
    struct Host {
        int at = 0;  ///< index into switches
        Uplink uplink;
    };
    std::vector<Switch> switches;
    std::unordered_map<std::string, Host> hosts;
    bool by_rank = false;            ///< see Fabric::by_rank
    std::vector<std::string> notes;  ///< what was assumed, for people
};

/// Redundant paths become one vertex, single paths stay:
/// - Switches that share a host (rails) are one switch.
/// - The root is what the source puts on top; without that the switches from which the farthest
///   host is nearest, of those the ones with the smallest sum of distances to all hosts; several
///   equal ones without hosts of their own (spines) are one. Several tops, or parts that nothing
///   connects, hang below one more vertex whose links are not known, with a note.
/// - A switch with several upper neighbours: those are one switch if none of them has hosts;
///   otherwise it hangs where all of its ways up meet.
/// - The uplink's bandwidth is the sum of the cables to the upper neighbours (0 if none is known;
///   a way that leads over several switches counts with its narrowest sum).
/// Complexity: near linear in nodes and cables.
/// Errors: invalid_argument (a rooted fabric that runs in a cycle, naming the switches).
Result<SwitchTree> switch_tree(const Fabric& fabric);

/// A host of the job with its own subtree.
struct HostSubtree {
    int lowest_rank = 0;
    TreeSpec spec;  ///< kind host; its name is the host's
};

/// The hosts below their switches; switches without any host of the job are left out, branches are
/// ordered by their lowest rank. A host is looked up by its name as written, then without its
/// domain, then without regard to case; one that is not found hangs below the root, with a note
/// that names it (many: the first few and how many more). The same name on two hosts of the job is
/// fine. Needs at least one host.
TreeSpec hang_hosts(const SwitchTree& switches, std::vector<HostSubtree> hosts,
                    std::vector<std::string>& notes);

}  // namespace gradcoll
