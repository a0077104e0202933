// nic/transport/nic_meeting.hpp - the ranks of a communicator and the agents of their hosts become
// a group.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "nic/transport/nic_channel.hpp"

namespace gradcoll {

/// Who is on which host, and how this rank finds its host's agent.
struct NicPlacement {
    std::vector<std::uint32_t> host_of_rank;  ///< the same on all ranks; hosts from 0 without gaps,
                                              ///< in the order of their first ranks
    std::string directory;
    bool starts_agent = false;  ///< where there is none

    std::uint32_t host_count() const;
    bool are_together(int rank, int other) const {
        return host_of_rank[static_cast<std::size_t>(rank)] ==
               host_of_rank[static_cast<std::size_t>(other)];
    }
    /// Which host has the lowest rank so.
    bool is_first_of_host(std::uint32_t rank) const;
};
/// Collective. That of the machine. Errors: transport.
Result<NicPlacement> nic_placement(MPI_Comm comm);

/// Collective: the placement's hosts are the same on all ranks. All ranks end with a channel to the
/// ranks of other hosts, whose agents are linked, or all with the same error, which says whose it
/// is. `least_summed_bytes`: agents also add vectors, from there on; 0: none; the
/// same on all ranks. `comm` has to outlive the channel.
Result<std::unique_ptr<NicChannel>> make_nic_channel(MPI_Comm comm, const NicPlacement& placement,
                                                     std::size_t least_summed_bytes = 0);

}  // namespace gradcoll
