// topology/sources/host/host_subtree.hpp - from where the ranks of a host are to its part of the
// tree.
#pragma once

#include <span>
#include <string>

#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Merges the paths of the ranks of one host to its subtree (not yet collapsed). Branches are in
/// the order of their first rank; every rank is a leaf of its own, also when several name the same
/// object. The only rank at a GPU is a leaf of kind gpu, under the GPU's name. Needs paths.size()
/// == ranks.size() > 0.
TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks);

/// `ranks` dealt one each to `cores` in order, round robin when there are more. Needs a core and a
/// rank.
TreeSpec dealt_host(const std::string& host_name, std::span<const HostPath> cores,
                    std::span<const int> ranks);

}  // namespace gradcoll
