// topology/draw/entry_words.hpp - the titles of an outline's entries.
#pragma once

#include <string>

#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

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
