// topology/sources/cluster/kept_networks.hpp - what was measured between hosts, for communicators
// and jobs that come later.
#pragma once

#include <optional>
#include <span>

#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// From now on kept_network() of this process tells of it; `tree` names hosts. With `in_file` also
/// of later ones of this user with the same hosts and MPI library: a file in
/// $XDG_CACHE_HOME/gradcoll (else ~/.cache/gradcoll), which is replaced at once or not at all.
/// Thread safe.
void keep_network(const SwitchTree& tree, bool in_file);

/// As if it had never been kept. Thread safe.
void forget_network(const SwitchTree& tree);

/// The latest that covers all of these hosts, by name; nothing if names repeat. Files that cannot
/// be read or hold something else are as good as none. Thread safe.
std::optional<Switches> kept_network(std::span<const JobHost> hosts);

}  // namespace gradcoll
