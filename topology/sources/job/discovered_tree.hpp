// topology/sources/job/discovered_tree.hpp - the tree of a job, and where it came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A DiscoveredTree is a tree with its origin, for people ("GC_TOPOLOGY expression", "discovered:
/// hwloc + shared-memory split", ...).
struct DiscoveredTree {
    Tree tree;
    std::string origin;
    std::vector<std::string> notes = {};  ///< what was assumed, one sentence each; the same on all
                                          ///< ranks
};

/// Returns origin and notes in one line.
std::string told_origin(const DiscoveredTree& tree);

/// Turn a tree into bytes for all ranks, or the error (code, text, tree, notes), and back. Errors:
/// the one that was written; corrupt.
std::string discovery_bytes(const Result<DiscoveredTree>& result);
Result<DiscoveredTree> discovery_from(std::string_view bytes);

}  // namespace gradcoll
