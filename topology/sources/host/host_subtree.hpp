// topology/sources/host/host_subtree.hpp - makes a host's part of the tree from the places of its
// ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Merges the paths of the ranks of one host into its subtree (not yet collapsed). Branches are in
/// the order of their first rank; every rank is a leaf of its own, also when several name the same
/// object. The only rank at a GPU is a leaf of kind gpu, with the GPU's name. Requires paths.size()
/// == ranks.size() > 0.
TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks);

/// Returns the host's subtree as its ranks reported it; flat if they did not look.
HostSubtree subtree_as_told(const JobHost& host);
/// Returns the host's subtree with its ranks dealt to `places`, cores or GPUs, at least one (see
/// dealt_to_gpus()).
HostSubtree subtree_as_described(const JobHost& host, std::span<const HostPath> places);

std::vector<int> ranks_of(const JobHost& host);
std::vector<std::string> gpus_of(const JobHost& host);  ///< by rank of the host, in their order

}  // namespace gradcoll
