// runtime/slow_links.hpp - whose messages pass a slow link, and whose none between hosts.
#pragma once

#include <vector>

#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns the peers (ascending) of this plan whose messages pass a link that the tree knows to be
/// slow. There TCP is what carries them, and they go in pieces (Lane::cut_messages). Both ends of a
/// message find the same. Time: linear in the plan's steps, and in the depth of the tree by peer.
std::vector<int> peers_over_slow_links(const Tree& tree, const Plan& plan);

/// Returns the peers (ascending) that are on the rank's own host. Both ends of a message find the
/// same.
std::vector<int> peers_on_own_host(const Tree& tree, const Plan& plan);

}  // namespace gradcoll
