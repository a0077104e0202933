// fabric/switch_tree.hpp - turns a fabric into a tree of (virtual) switches, and hangs the
// hosts of a job below it.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct SwitchTree {
    struct Switch {
        std::string name;  ///< for a virtual switch: its members, as a host list ("s[4-7]"); empty
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
    std::vector<std::string> notes;  ///< for people: what was assumed
};

/// Turns a fabric into a tree: redundant paths become one vertex, single paths stay.
/// - Two switches that share at least half of the hosts of each (rails) are one switch. A host on
///   several switches that are not one hangs where its ways up meet. In a rooted fabric a host is
///   on the lowest of the switches that name it.
/// - The source may say what is on top. Otherwise it is the switches whose farthest host is
///   nearest; among these the ones with the smallest sum of distances to all hosts; among these
///   the ones without hosts if there are any. If several remain apart after the next rule, they
///   hang below an added vertex by the cables between them, with a note. So do parts that nothing
///   connects; their links are not known.
/// - From the bottom up: if a switch has several upper neighbours, these become one switch (spines,
///   aggregation switches of a pod) unless one of them has hosts; then the switch hangs where all
///   of its ways up meet.
/// - A switch that leads to no host is left out; but if cables describe the fabric, and all of its
///   two or more neighbours hang on one switch without hosts, it is joined with that (a spine that
///   lacks a cable).
/// - Cables within a level are left out, with a note.
/// The uplink's bandwidth is the sum of the cables to the upper neighbours (0 if none is known;
/// a way that leads over several switches counts with its narrowest sum), its latency the longest.
/// Switches are numbered from the top down, within a level by first mention. Complexity: near
/// linear in nodes and cables. Thread safe.
/// Errors: invalid_argument for a rooted fabric that runs in a cycle, naming the switches; for more
/// levels than max_switch_levels; for a cable to a node that is not there.
Result<SwitchTree> switch_tree(const Fabric& fabric);

/// A HostSubtree is a host of the job with its own subtree.
struct HostSubtree {
    int lowest_rank = 0;
    TreeSpec spec;  ///< kind host; its name is the host's
};

/// Hangs the hosts below their switches. Switches without any host of the job are left out,
/// branches are ordered by their lowest rank. A host is looked up by its name as written, then
/// without its domain, then without regard to case (a short form of several names stands for none
/// of them); by rank it is looked up by its lowest rank. A host that is not found hangs below the
/// root, with a note that names it (many: the first few and how many more). Two hosts of the job
/// may have the same name. Needs at least one host.
TreeSpec hang_hosts(const SwitchTree& switches, std::vector<HostSubtree> hosts,
                    std::vector<std::string>& notes);

/// Returns whether hang_hosts() finds every host of these names; never true in a tree by rank.
bool knows_all(const SwitchTree& switches, std::span<const std::string> names);

}  // namespace gradcoll
