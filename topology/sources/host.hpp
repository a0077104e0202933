// topology/sources/host.hpp - the part of a tree inside one host, from hwloc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Where one rank is inside its host, as it found itself: the objects from the machine down to the smallest one that
/// holds the rank's binding (package, NUMA node, L3, core; bridge and GPU where hwloc shows that a GPU is near).
struct HostPath {
    std::string host_name;
    struct Object {
        VertexKind kind;
        std::uint32_t index;  ///< hwloc logical index, so that ranks that name the same object agree
        std::string name;
    };
    std::vector<Object> objects;  ///< outermost first; without the host itself
};

/// Where the calling process is bound, on this machine (or on the one that HWLOC_XMLFILE / HWLOC_SYNTHETIC show).
Result<HostPath> this_rank_host_path();

/// The same for a described host: `description` is an hwloc synthetic string ("pack:2 core:4 pu:1") or the path of an hwloc
/// XML file; the ranks of the host are dealt one each to the PUs (or cores) in order, round robin when there are more.
/// Errors: invalid_argument/io naming the file or the string and hwloc's reason.
Result<TreeSpec> host_from_description(std::string_view description, std::span<const int> ranks);

/// Merges the paths of the ranks of one host to its subtree (not yet collapsed).
TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths, std::span<const int> ranks);

}  // namespace gradcoll
