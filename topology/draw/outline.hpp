// topology/draw/outline.hpp - what a drawing shows of a tree: siblings that are alike are one
// entry.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// One entry stands for `members`: siblings whose subtrees are alike in everything but rank
/// numbers, the numbers in names ("n1", "n2") and the order of branches.
struct OutlineEntry {
    int parent = -1;            ///< entry; -1 for the root
    int depth = 0;              ///< entries above
    std::vector<int> members;   ///< vertex ids, in branch order; never empty
    std::vector<int> children;  ///< entries below the first member
    bool inside_fold = false;  ///< below an entry of several members: its figures hold in each copy

    int vertex() const { return members.front(); }
    int copies() const { return static_cast<int>(members.size()); }
};

struct OutlineLimits {
    int cut_height = 0;    ///< vertices of at most this height have no entries below them
    int max_children = 0;  ///< entries below one; further ones are left out. 0: all
};

struct Outline {
    std::vector<OutlineEntry> entries;  ///< pre-order; the root is the first
    std::vector<int> left_out;          ///< by entry: branches of max_children's remainder
};

/// Complexity: near linear in vertices. Thread safe.
Outline outline_of(const Tree& tree, const OutlineLimits& limits = {});

/// A number by vertex, the same for vertices that are alike.
std::vector<std::uint32_t> shapes_of(const Tree& tree);

/// The ranks of an entry: of leaves in branch order, of what is below other members ascending.
std::vector<int> ranks_of(const Tree& tree, const OutlineEntry& entry);

}  // namespace gradcoll
