// nic/transport/nic_meeting.hpp - the ranks of a communicator and the agents of their hosts become
// a group; where no agent runs one is started (GC_NIC=auto).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "nic/transport/nic_channel.hpp"

namespace gradcoll {

/// NicPlacement says who is on which host, and how this rank finds its host's agent.
struct NicPlacement {
    std::vector<std::uint32_t> host_of_rank;  ///< the same on all ranks; hosts from 0 without gaps,
                                              ///< in the order of their first ranks
    std::string directory;
    bool starts_agent = false;  ///< whether to start one where there is none

    std::uint32_t host_count() const;
    bool are_together(int rank, int other) const {
        return host_of_rank[static_cast<std::size_t>(rank)] ==
               host_of_rank[static_cast<std::size_t>(other)];
    }
    /// Returns whether the rank is the lowest on its host.
    bool is_first_of_host(std::uint32_t rank) const;
};
/// Returns the placement that the machine has. Collective. Errors: transport.
Result<NicPlacement> nic_placement(MPI_Comm comm);

/// Joins the agents of the hosts. Collective: the placement's hosts are the same on all ranks. All
/// ranks end with a channel to the ranks of other hosts, whose agents are linked, or all with the
/// same error, which says whose it is. From `least_summed_bytes` on agents also add vectors; it is
/// 0 if they do not, and the same on all ranks. `comm` has to outlive the channel.
Result<std::unique_ptr<NicChannel>> make_nic_channel(MPI_Comm comm, const NicPlacement& placement,
                                                     std::size_t least_summed_bytes = 0);

/// Runs the gc_nicd of this library's installation in the background, with a socket in `directory`;
/// it ends some time after its last rank has left. Returns when it listens. Errors: io, with what
/// is wrong.
Status start_nic_agent(const std::string& directory);

}  // namespace gradcoll
