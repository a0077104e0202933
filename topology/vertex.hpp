// topology/vertex.hpp - the parts of a tree: vertices of a kind, each with a link to its parent,
// and the limits of a tree's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

enum class VertexKind : std::uint8_t {
    rank,
    core,
    cache,
    numa,
    package,
    bridge,
    gpu,
    host,
    fabric_switch,
    group
};

/// Returns whether the branches of a vertex of this kind are whole hosts or more.
constexpr bool connects_hosts(VertexKind kind) {
    return kind == VertexKind::fabric_switch || kind == VertexKind::group;
}

/// Trees beyond these limits are refused: the walks that draw or rewrite a tree recurse once for
/// each level, and a rank number that is read from a text decides how much memory is allocated.
inline constexpr int max_tree_depth =
    1024;  ///< edges from the root to the deepest vertex, before collapsing
inline constexpr int max_tree_ranks = 1 << 20;
inline constexpr std::size_t max_name_bytes = 1024;

/// Returns "rank", "core", "cache", "numa", "package", "bridge", "gpu", "host", "switch" or
/// "group".
std::string_view name_of(VertexKind kind);
/// Returns the kind of that name. Errors: invalid_argument listing the kinds.
Result<VertexKind> vertex_kind_from(std::string_view name);

/// An Uplink is the link from a vertex up to its parent. 0 means: not known. Figures are never
/// negative, infinite or NaN.
struct Uplink {
    double bandwidth_gbytes_per_s = 0;
    double latency_us = 0;
};

/// Returns whether a value may be a link's figure: finite, and not even minus zero, so that equal
/// links have equal bytes.
bool is_link_figure(double value);

/// Returns two links in series as one: the slower bandwidth (of those known) and the summed
/// latency.
Uplink in_a_row(const Uplink& a, const Uplink& b);

bool same_link(const Uplink& a, const Uplink& b);

/// A TreeSpec is a tree as its sources describe it, before it is checked: any nesting, any order,
/// chains of single children allowed.
struct TreeSpec {
    VertexKind kind = VertexKind::group;
    std::string name;  ///< for people; may be empty
    /// A value >= 0 makes this vertex a rank. A rank with `children` is a processor that others
    /// hang on: in the tree it becomes an inner vertex whose first branch is that rank alone.
    int rank = -1;
    Uplink uplink;
    std::vector<TreeSpec> children;  ///< in the order in which branches are numbered
};

struct Vertex {
    VertexKind kind = VertexKind::group;
    std::string name;
    int parent = -1;     ///< vertex id; -1 for the root
    int branch = -1;     ///< which child of its parent it is
    int rank = -1;       ///< rank number >= 0 for leaves, else -1
    int height = 0;      ///< 0 for leaves, else 1 + the highest child
    int leaf_count = 1;  ///< number of ranks below (1 for a leaf)
    int first_leaf = 0;  ///< position of the first leaf below among all leaves, in pre-order
    int shape = 0;       ///< equal for two vertices if and only if their subtrees differ in kinds,
                         ///< names, links and rank numbers only; 0 for leaves
    Uplink uplink;
    std::vector<int> children;  ///< vertex ids; empty for leaves, at least two otherwise
};

}  // namespace gradcoll
