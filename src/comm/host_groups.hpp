// comm/host_groups.hpp - the hosts of a communicator: the ranks that share memory with this
// one, and one rank of each host that talks to the other hosts, its leader.
#pragma once

#include <optional>
#include <vector>

#include "comm/comm_identity.hpp"

namespace gradcoll {

/// Their communicators are their own: the whole may end before them.
struct HostGroups {
    CommIdentity local;                   ///< the ranks of this host, in their order
    std::optional<CommIdentity> leaders;  ///< where this rank is one: rank 0 of its host
    std::vector<int> leader_of;           ///< by rank of the whole, a rank of the whole

    /// Hosts as MPI finds them. Collective over the whole. Errors: transport.
    static Result<HostGroups> make(const CommIdentity& whole);
    /// Ranks that give the same number make a host, whatever the machine is. Collective likewise.
    static Result<HostGroups> make(const CommIdentity& whole, int host);
};

}  // namespace gradcoll
