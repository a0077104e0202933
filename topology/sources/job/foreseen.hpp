// topology/sources/job/foreseen.hpp - predicts the tree of ranks that do not exist. Calls no MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/job/discovered_tree.hpp"

namespace gradcoll {

/// Returns the tree of `rank_count` ranks that are all on this host; 0: as many as a written tree
/// names, one for each core (or GPU) of a host that is described, else 1. `written` as in
/// discover_tree(). If the machine decides, it is not known how a launcher would bind: one rank on
/// each core in order is assumed, and no binding if ranks outnumber cores; `origin` says so. A
/// single host is not measured, so a probe finds nothing. Errors: as discover_tree();
/// invalid_argument if rank_count is negative or beyond max_tree_ranks.
Result<DiscoveredTree> foreseen_tree(const std::string& written, int rank_count);

enum class RankOrder : std::uint8_t {
    in_order,  ///< the ranks of a host follow each other, hosts in their order
    shuffled   ///< the places on all hosts are dealt to ranks by a permutation made from the seed
};

/// A ClusterSpec describes a job on a cluster that need not exist.
struct ClusterSpec {
    std::string written;             ///< a GC_TOPOLOGY value: INSIDE, BETWEEN or INSIDE+BETWEEN
    std::vector<std::string> hosts;  ///< names; empty: all that the hosts folder and the fabric
                                     ///< name, in natural order (n2 before n10)
    int ranks_per_host = 0;  ///< 0: one on each core; a host without a description then takes one
    RankOrder order = RankOrder::in_order;
    std::uint64_t seed = 0;  ///< gives the same permutation on every machine
};

/// Returns the tree of that job. Ranks are dealt in order to the cores of the hosts' descriptions,
/// round robin when there are more. A host that the fabric names and nothing describes has one leaf
/// for each rank, with a note; hosts that the fabric does not know hang at the root, with a note. A
/// whole tree (expression, json) is returned as it is: hosts, ranks and order are ignored. Errors:
/// as discover_tree(); invalid_argument if neither `hosts` nor the sources name a host, if
/// ranks_per_host is negative, if there are more than max_tree_ranks ranks, or if `written` asks
/// for a measurement (probe without a cache file).
Result<DiscoveredTree> foreseen_cluster(const ClusterSpec& cluster);

}  // namespace gradcoll
