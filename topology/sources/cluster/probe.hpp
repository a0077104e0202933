// topology/sources/cluster/probe.hpp - measures the tree between hosts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "fabric/switch_tree.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// A ProbeHost is one host as all ranks know it.
struct ProbeHost {
    int lowest_rank = 0;  ///< in the communicator: this rank measures for the host
    std::string name;
};

struct ProbeOptions {
    std::string cache_file;  ///< read on rank 0 if it covers all hosts by name, else written there;
                             ///< empty: none
    ProbeEffort effort = ProbeEffort::thorough;
    std::string job;  ///< what asked, for messages ("GC_TOPOLOGY probe")
};

/// Measures between hosts in rounds of disjoint pairs (their number grows with log n for bounded
/// degrees and depth), clusters them to a tree, then measures what each branch's uplink carries
/// when all of its hosts send. Collective over `comm`; `hosts` is the same on all ranks, with at
/// least one host. The answer is the same on all ranks, by_rank, and the time is bounded. A cache
/// file that is malformed gives a note, not an error. Errors: those of MPI.
Result<SwitchTree> probe_switches(MPI_Comm comm, std::span<const ProbeHost> hosts,
                                  const ProbeOptions& options);

}  // namespace gradcoll
