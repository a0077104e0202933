// topology/vertex.hpp - what stands in a tree: vertices of a kind, each with a link to its parent,
// and the limits within which trees stay.
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

/// Whether the branches of a vertex of this kind are whole hosts or more.
constexpr bool connects_hosts(VertexKind kind) {
    return kind == VertexKind::fabric_switch || kind == VertexKind::group;
}

/// Trees larger than this are refused: the walks that draw or rewrite a tree recurse once a level,
/// and a rank number that is read from a text decides how much memory is taken.
inline constexpr int max_tree_depth =
    1024;  ///< edges from the root to the deepest vertex, before collapsing
inline constexpr int max_tree_ranks = 1 << 20;
inline constexpr std::size_t max_name_bytes = 1024;

/// "rank", "core", "cache", "numa", "package", "bridge", "gpu", "host", "switch", "group".
std::string_view name_of(VertexKind kind);
/// Errors: invalid_argument listing the kinds.
Result<VertexKind> vertex_kind_from(std::string_view name);

/// The link from a vertex up to its parent. 0 means: not known. Neither negative nor infinite nor
/// NaN.
struct Uplink {
    double bandwidth_gbytes_per_s = 0;
    double latency_us = 0;
};

/// A figure of a link: finite, and not even minus zero, so that equal links have equal bytes.
bool is_link_figure(double value);

/// Two links that follow each other: the slower bandwidth (of those known) and the summed latency.
Uplink in_a_row(const Uplink& a, const Uplink& b);

bool same_link(const Uplink& a, const Uplink& b);

/// A tree as its sources describe it, before it is checked: any nesting, any order, degree-1 chains
/// allowed.
struct TreeSpec {
    VertexKind kind = VertexKind::group;
    std::string name;  ///< for people; may be empty
    /// >= 0: this vertex is a rank. One with `children` is a processor that others hang on: in the
    /// tree it becomes an inner vertex whose first branch is that rank alone.
    int rank = -1;
    Uplink uplink;
    std::vector<TreeSpec> children;  ///< in the order in which branches are numbered
};

struct Vertex {
    VertexKind kind = VertexKind::group;
    std::string name;
    int parent = -1;     ///< vertex id; -1 for the root
    int branch = -1;     ///< which child of its parent it is
    int rank = -1;       ///< >= 0 for leaves
    int height = 0;      ///< 0 for leaves, else 1 + the highest child
    int leaf_count = 1;  ///< ranks below (1 for a leaf)
    int first_leaf = 0;  ///< position of the first leaf below among all leaves, in pre-order
    int shape = 0;       ///< equal for two vertices if and only if their subtrees differ in kinds,
                         ///< names, links and rank numbers only; 0 for leaves
    Uplink uplink;
    std::vector<int> children;  ///< vertex ids; empty for leaves, at least two otherwise
};

}  // namespace gradcoll
