// topology/sources/discover.hpp - the tree of a communicator: from what the user wrote, else from
// the machine.
#pragma once

#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Where a tree came from, for people ("GC_TOPOLOGY expression", "discovered: hwloc + shared-memory
/// split", ...).
struct DiscoveredTree {
    Tree tree;
    std::string origin;
    std::vector<std::string> notes = {};  ///< what was assumed, one sentence each; the same on all
                                          ///< ranks
};

/// Collective over `comm` (an intracommunicator). `written` is the GC_TOPOLOGY value: empty
/// (discover), an expression, `json:FILE` (or a path ending in .json), `synthetic:STRING`,
/// `xml:FILE` (for every host alike) or `hosts:FILE` (a file of lines `host-name-or-*
/// synthetic-or-xml`), `flat`, or `discover`. Written trees are read on rank 0 and sent to all, so
/// that files need to exist there only. Ranks in a written tree are ranks of MPI_COMM_WORLD...
/// pruned to the members of `comm`, renumbered by rank in `comm`. The result is byte-identical on
/// all ranks, and so is the error if there is one.
Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written);

}  // namespace gradcoll
