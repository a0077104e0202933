// topology/sources/host/host_subtree.hpp - from where the ranks of a host are to its part of the
// tree.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Merges the paths of the ranks of one host to its subtree (not yet collapsed). Branches are in
/// the order of their first rank; every rank is a leaf of its own, also when several name the same
/// object. The only rank at a GPU is a leaf of kind gpu, under the GPU's name. Needs paths.size()
/// == ranks.size() > 0.
TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks);

/// A host of a job, as its ranks found themselves; flat if they did not look.
HostSubtree subtree_as_told(const JobHost& host);
/// The same with its ranks dealt to `places`, cores or GPUs, at least one (see dealt_to_gpus()).
HostSubtree subtree_as_described(const JobHost& host, std::span<const HostPath> places);

std::vector<int> ranks_of(const JobHost& host);
std::vector<std::string> gpus_of(const JobHost& host);  ///< of its ranks, in their order

}  // namespace gradcoll
