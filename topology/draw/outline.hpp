// topology/draw/outline.hpp - what a drawing shows of a tree: one entry for siblings that are
// alike, and its title.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// An OutlineEntry stands for `members`: siblings whose subtrees differ only in rank numbers, the
/// numbers in names ("n1", "n2") and the order of branches.
struct OutlineEntry {
    int parent = -1;            ///< index of the entry above; -1 for the root
    int depth = 0;              ///< number of entries above
    std::vector<int> members;   ///< vertex ids, in branch order; never empty
    std::vector<int> children;  ///< indices of the entries below the first member
    bool inside_fold = false;   ///< below an entry of several members: it stands for each copy

    int vertex() const { return members.front(); }
    int copies() const { return static_cast<int>(members.size()); }
};

struct OutlineLimits {
    int cut_height = 0;    ///< vertices of at most this height have no entries below them
    int max_children = 0;  ///< the most entries below one; further ones are left out. 0: no limit
};

struct Outline {
    std::vector<OutlineEntry> entries;  ///< pre-order; the root is the first
    std::vector<int> left_out;          ///< by entry: number of branches beyond max_children
};

/// Makes the outline. Complexity: near linear in vertices. Thread safe.
Outline outline_of(const Tree& tree, const OutlineLimits& limits = {});

/// Returns a number for each vertex, equal for vertices that are alike.
std::vector<std::uint32_t> shapes_of(const Tree& tree);

/// Returns the ranks of an entry: leaves in branch order, ranks below other members ascending.
std::vector<int> ranks_of(const Tree& tree, const OutlineEntry& entry);

/// Returns the name that all members share, escaped, such as "n[1-16]", inside a fold "n*"; empty
/// if they share none.
std::string shared_name(const Tree& tree, const OutlineEntry& entry);

struct EntryTitle {
    std::string what;
    std::string ranks;  ///< ranks of named leaves; otherwise empty
};
EntryTitle title_parts(const Tree& tree, const OutlineEntry& entry);

/// Returns both parts: `host "n1"`, `x16 host "n[1-16]"`, `rank 3`, `ranks 0-3`, `gpus "GPU[0-1]",
/// ranks 0-1`; inside a fold `x4 rank`.
std::string title_of(const Tree& tree, const OutlineEntry& entry);

/// Returns whether this entry lists its ranks: leaves do, and the outermost entry of a fold.
bool names_ranks(const Tree& tree, const OutlineEntry& entry);

}  // namespace gradcoll
