// topology/sources/cluster/between.hpp - the switches between the hosts of a job, from what says
// how hosts are connected. Calls no MPI.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

struct Switches {
    std::optional<SwitchTree> tree;  ///< without: all hosts hang below one vertex; where it is
                                     ///< by_rank, hosts are named by ranks of MPI_COMM_WORLD
    std::string origin;              ///< for people: "SLURM_TOPOLOGY_ADDR"; empty without a tree
};

/// `source` is resolved; of form probe it gives no tree, as that needs the ranks. What SLURM's
/// addresses say is looked at unasked by form automatic only, so what is wrong with them is a note
/// then. `hosts` may be empty where no addresses are looked at. Errors: io, and those of the
/// fabric's format, naming the file.
Result<Switches> switches_between(const BetweenSource& source, std::span<const JobHost> hosts,
                                  std::vector<std::string>& notes);

/// A by_rank tree for a communicator: each host of the job is found by any of its ranks of
/// MPI_COMM_WORLD, and named by its lowest rank in the communicator afterwards. Other trees stay as
/// they are.
SwitchTree named_by_own_ranks(SwitchTree tree, std::span<const JobHost> hosts);

}  // namespace gradcoll
