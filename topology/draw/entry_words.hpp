// topology/draw/entry_words.hpp - what an entry of an outline is called.
#pragma once

#include <string>

#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// The name that all members share, escaped; empty if they have none. "n[1-16]"; inside a fold
/// "n*".
std::string shared_name(const Tree& tree, const OutlineEntry& entry);

struct EntryTitle {
    std::string what;
    std::string ranks;  ///< of named leaves; otherwise empty
};
EntryTitle title_parts(const Tree& tree, const OutlineEntry& entry);

/// Both parts: `host "n1"`, `x16 host "n[1-16]"`, `rank 3`, `ranks 0-3`, `gpus "GPU[0-1]", ranks
/// 0-1`; inside a fold `x4 rank`.
std::string title_of(const Tree& tree, const OutlineEntry& entry);

/// Whether this entry is the one that tells its ranks: leaves, and the outermost of a fold.
bool names_ranks(const Tree& tree, const OutlineEntry& entry);

}  // namespace gradcoll
