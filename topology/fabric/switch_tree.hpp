// topology/fabric/switch_tree.hpp - a fabric as a tree of (virtual) switches, and the hosts of a
// job hung below it.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct SwitchTree {
    struct Switch {
        std::string name;  ///< of a virtual switch: its members, as a host list ("s[4-7]"); empty
                           ///< for a vertex that no source knows
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
/// - Two switches that share at least half of the hosts of each (rails) are one switch. A host on
///   several switches that are not one hangs where its ways up meet. In a rooted fabric a host is
///   on the lowest of the switches that name it.
/// - On top is what the source puts there; without that the switches from which the farthest host
///   is nearest, of those the ones with the smallest sum of distances to all hosts, of those the
///   ones without hosts if there are. Where several stay apart after the next rule, they hang below
///   one more vertex by the cables between them, with a note. So do parts that nothing connects;
///   their links are not known.
/// - From the bottom up: a switch with several upper neighbours makes these one switch (spines,
///   aggregation switches of a pod) if none of them has hosts; otherwise it hangs where all of its
///   ways up meet.
/// - A switch that leads to no host is left out; but where cables tell the fabric, and all of its
///   two or more neighbours hang on one switch without hosts, it is one with that (a spine that
///   lacks a cable).
/// - Cables within a level are left out, with a note.
/// The uplink's bandwidth is the sum of the cables to the upper neighbours (0 if none is known;
/// a way that leads over several switches counts with its narrowest sum), its latency the longest.
/// Switches are numbered from the top down, within a level by first mention. Complexity: near
/// linear in nodes and cables. Thread safe.
/// Errors: invalid_argument for a rooted fabric that runs in a cycle, naming the switches; for more
/// levels than max_switch_levels; for a cable to a node that is not there.
Result<SwitchTree> switch_tree(const Fabric& fabric);

/// A host of the job with its own subtree.
struct HostSubtree {
    int lowest_rank = 0;
    TreeSpec spec;  ///< kind host; its name is the host's
};

/// The hosts below their switches; switches without any host of the job are left out, branches are
/// ordered by their lowest rank. A host is looked up by its name as written, then without its
/// domain, then without regard to case (a short form of several names stands for none of them; by
/// rank: by its lowest rank); one that is not found hangs below the root, with a note that names it
/// (many: the first few and how many more). The same name on two hosts of the job is fine. Needs at
/// least one host.
TreeSpec hang_hosts(const SwitchTree& switches, std::vector<HostSubtree> hosts,
                    std::vector<std::string>& notes);

/// Whether hang_hosts() finds every host of these names; never in a tree by rank.
bool knows_all(const SwitchTree& switches, std::span<const std::string> names);

}  // namespace gradcoll
