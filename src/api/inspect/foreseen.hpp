// api/inspect/foreseen.hpp - a communicator that is not there: ranks of this process's settings
// and foreseen tree.
#pragma once

#include "api/comm/route.hpp"
#include "api/settings/settings.hpp"
#include "topology/sources/job/discover.hpp"

namespace gradcoll {

struct ForeseenComm {
    DiscoveredTree tree;
    SettingsText text;
    Settings settings;

    /// Where its first compressible call goes; it is named MPI_COMM_WORLD.
    Route route_of(const CallShape& shape) const;
};

/// `info` may be MPI_INFO_NULL. Errors: what its keys, the settings and foreseen_tree() say.
Result<ForeseenComm> foreseen_comm(int ranks, MPI_Info info);

}  // namespace gradcoll
