// topology/sources/job/discover.hpp - the tree of a communicator: from what the user wrote, else
// from the machine.
#pragma once

#include <string>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/sources/job/discovered_tree.hpp"

namespace gradcoll {

/// What ranks bring along.
struct DiscoveryWish {
    /// PCI address of the GPU that the calling process uses ("0000:3b:00.0"), empty if none; ranks
    /// may differ.
    std::string gpu_bus_id{};
    /// Where nobody tells switches, earlier measurements may (cluster/kept_networks.hpp). Counts on
    /// rank 0.
    bool may_use_kept = false;
};

/// Collective over `comm` (an intracommunicator). `written` is the GC_TOPOLOGY value, its forms as
/// in topology/README.md; empty: auto. It is read on rank 0, and so are the files that it names.
/// Ranks in a whole tree (expression, JSON) are ranks of MPI_COMM_WORLD, pruned to the members of
/// `comm`, renumbered by rank in `comm`. Where hwloc says how hosts look inside, a rank
/// with a GPU is a leaf below it. The result is byte-identical on all ranks, and so is the error if
/// there is one.
Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written,
                                     const DiscoveryWish& wish = {});

}  // namespace gradcoll
