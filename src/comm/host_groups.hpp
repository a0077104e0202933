// comm/host_groups.hpp - the hosts of a communicator: the ranks that share memory with this
// one, and one rank of each host that talks to the other hosts, its leader.
#pragma once

#include <optional>
#include <vector>

#include "comm/comm_identity.hpp"

namespace gradcoll {

/// HostGroups have communicators of their own, which may outlive the whole communicator.
struct HostGroups {
    CommIdentity local;                   ///< the ranks of this host, in their order
    std::optional<CommIdentity> leaders;  ///< the leaders, if this rank is one: rank 0 of its host
    std::vector<int> leader_of;  ///< for each rank of the whole, the rank of its leader in the
                                 ///< whole

    /// Makes the groups of the hosts that MPI finds. Collective over the whole. Errors: transport.
    static Result<HostGroups> make(const CommIdentity& whole);
    /// Makes a host of ranks that give the same number, whatever the machine is. Collective
    /// likewise.
    static Result<HostGroups> make(const CommIdentity& whole, int host);
};

}  // namespace gradcoll
