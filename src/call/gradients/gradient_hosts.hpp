// call/gradients/gradient_hosts.hpp - what sums of an engine need whose ranks are several on a
// host, and on several hosts: many of them are under way at a time (ways/hosts/hosts_sum.hpp).
#pragma once

#include <memory>
#include <vector>

#include "comm/host_groups.hpp"
#include "ways/hosts/hosts_sum.hpp"
#include "ways/tree/comm_plans.hpp"

namespace gradcoll {

/// GradientHosts is what all such sums of one engine share. All ranks have to make the calls in the
/// memory of a host in the same order, but only the leader knows when the leaders are done with a
/// sum. So sums go up in the order in which they begin, and down in that order, too, each way in
/// memory of its own.
class GradientHosts {
  public:
    /// Makes it. Returns null if all ranks are on one host or each is alone on its own, if the
    /// settings do not allow it, or if there is no memory to share, which is logged. Collective.
    /// Errors: transport.
    static Result<std::unique_ptr<GradientHosts>> make(const CommIdentity& whole,
                                                       const Settings& settings);
    /// Makes it for groups that are not those of the machine, for tests.
    static Result<std::unique_ptr<GradientHosts>> make(const CommIdentity& whole,
                                                       const Settings& settings,
                                                       Result<HostGroups> groups);

    /// Returns the leader of each rank; both are ranks of the whole communicator.
    const std::vector<int>& leader_of() const { return groups_.leader_of; }
    bool is_leader() const { return plans_ != nullptr; }
    /// Returns the plans of the leaders' sums; called on leaders only.
    CommPlans& plans() { return *plans_; }

    HostLanes lanes() { return {&up_, &down_, is_leader()}; }
    bool is_alone() const { return up_.memory == nullptr; }
    /// Gives the memory up for good, as a sum was dropped on its way and may have left it half
    /// used.
    void spoil();

  private:
    explicit GradientHosts(HostGroups groups) : groups_(std::move(groups)) {}
    Status open(const Settings& settings);

    HostGroups groups_;
    std::unique_ptr<CommPlans> plans_;
    HostLane up_;
    HostLane down_;
};

}  // namespace gradcoll
