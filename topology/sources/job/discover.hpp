// topology/sources/job/discover.hpp - finds the tree of a communicator: from what the user wrote,
// else from the machine.
#pragma once

#include <string>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/sources/job/discovered_tree.hpp"

namespace gradcoll {

/// A DiscoveryWish is what the calling rank contributes.
struct DiscoveryWish {
    /// The calling process uses the GPU with this PCI address ("0000:3b:00.0"); empty if it uses
    /// none. Ranks may differ.
    std::string gpu_bus_id{};
    /// Allows earlier measurements to be used (cluster/kept_networks.hpp) if no source names
    /// switches. Only rank 0's value counts.
    bool may_use_kept = false;
};

/// Finds the tree. Collective over `comm` (an intracommunicator). `written` is the GC_TOPOLOGY
/// value in one of the forms of topology/README.md; empty: auto. Only rank 0 reads it, and the
/// files that it names. Ranks in a whole tree (expression, JSON) are ranks of MPI_COMM_WORLD; the
/// tree is pruned to the members of `comm`, renumbered by rank in `comm`. If hwloc says how hosts
/// look inside, a rank with a GPU is a leaf below it. The result is byte-identical on all ranks,
/// and so is an error.
Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written,
                                     const DiscoveryWish& wish = {});

}  // namespace gradcoll
