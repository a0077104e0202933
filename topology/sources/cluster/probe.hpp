// topology/sources/cluster/probe.hpp - the tree between hosts, measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/fabric/switch_tree.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// One host as all ranks know it.
struct ProbeHost {
    int lowest_rank = 0;  ///< in the communicator: this rank measures for the host
    std::string name;
};

struct ProbeOptions {
    std::string cache_file;  ///< read on rank 0 if it covers all hosts by name, else written there;
                             ///< empty: none
    ProbeEffort effort = ProbeEffort::thorough;
    std::string job;  ///< for messages: what asked ("GC_TOPOLOGY probe")
};

/// Collective over `comm`; `hosts` the same on all ranks, at least one. Measures between hosts in
/// rounds of disjoint pairs (their number grows with log n for bounded degrees and depth), clusters
/// to a tree, then measures what each branch's uplink carries when all of its hosts send. The
/// answer is the same on all ranks, by_rank, and bounded in time. A cache file that is there but
/// malformed is a note, not an error. Errors: those of MPI.
Result<SwitchTree> probe_switches(MPI_Comm comm, std::span<const ProbeHost> hosts,
                                  const ProbeOptions& options);

}  // namespace gradcoll
