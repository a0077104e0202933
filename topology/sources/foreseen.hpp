// topology/sources/foreseen.hpp - the tree that ranks would have which are not there. Calls no MPI.
#pragma once

#include <string>

#include "base/status.hpp"
#include "topology/sources/discover.hpp"

namespace gradcoll {

/// The tree of `rank_count` ranks that are all on this host; 0: as many as a written tree names,
/// else 1. `written` as in discover_tree(). Where the machine decides, how a launcher would bind is
/// not known: taken is one rank a core in order, and no binding if ranks outnumber cores; `origin`
/// says so. Errors: as discover_tree(); invalid_argument if rank_count is negative or beyond
/// max_tree_ranks.
Result<DiscoveredTree> foreseen_tree(const std::string& written, int rank_count);

}  // namespace gradcoll
