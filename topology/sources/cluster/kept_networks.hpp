// topology/sources/cluster/kept_networks.hpp - keeps what was measured between hosts for later
// communicators and jobs.
#pragma once

#include <optional>
#include <span>

#include "fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// Makes kept_network() of this process return the tree, which names hosts. With `in_file` later
/// processes of this user with the same hosts and MPI library find it, too: in a file in
/// $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll), which is replaced at once or not at all.
/// Thread safe.
void keep_network(const SwitchTree& tree, bool in_file);

/// Removes the tree again. Thread safe.
void forget_network(const SwitchTree& tree);

/// Returns the latest tree that covers all of these hosts, by name; nothing if names repeat. Files
/// that cannot be read or hold something else are ignored. Thread safe.
std::optional<Switches> kept_network(std::span<const JobHost> hosts);

}  // namespace gradcoll
