// ways/hosts/between_hosts.hpp - how the leaders of hosts are connected, and with what settings
// they plan.
#pragma once

#include <memory>
#include <vector>

#include "settings/settings.hpp"
#include "topology/sources/job/discover.hpp"

namespace gradcoll {

struct BetweenHosts {
    std::shared_ptr<const DiscoveredTree> tree;  ///< tree of the leaders, in the order of their
                                                 ///< ranks
    Settings settings;
    bool has_lossy = false;  ///< whether some exchange of leaders has a lossy codec

    /// Makes it from the tree of all ranks; `leader_of` is that of HostGroups. Pure. Errors: those
    /// of tree_of_leaders().
    static Result<BetweenHosts> make(const DiscoveredTree& tree, const Settings& settings,
                                     const std::vector<int>& leader_of);
};

}  // namespace gradcoll
