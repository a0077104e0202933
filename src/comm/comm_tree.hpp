// comm/comm_tree.hpp - the tree of a communicator, and what was assumed about the machine for
// it, told to people once.
#pragma once

#include <memory>
#include <string>

#include "comm/comm_identity.hpp"
#include "settings/settings.hpp"
#include "topology/sources/job/discover.hpp"

namespace gradcoll {

/// Calls discover_tree() and tell_notes(). `topology` is what `settings` say of it. Collective.
/// Errors: those of discover_tree(); invalid_argument if gc_reproducible forbids what is asked.
Result<std::shared_ptr<const DiscoveredTree>> find_tree(const CommIdentity& comm,
                                                        const std::string& topology,
                                                        const Settings& settings);

/// Rank 0 of the communicator warns of each note of its tree. Communicators that are derived from
/// one that was warned about stay quiet (their notes are in GC_TREE_ORIGIN): as such count those of
/// at most its size that ask for the same topology and have a rank of it as rank 0. Every rank of
/// the communicator has to call it. Thread safe.
void tell_notes(const DiscoveredTree& tree, const std::string& topology, int rank);

}  // namespace gradcoll
