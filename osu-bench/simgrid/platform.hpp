// platform.hpp - writes a tree as a SimGrid platform file.
#pragma once

#include <string>

#include "topology/tree.hpp"

namespace gradcoll::simulate {

/// Returns a platform in which every vertex is a router (leaves: a host "r<rank>"), every uplink a
/// SPLITDUPLEX link: one object for each direction. What the tree does not know about a link are
/// the defaults of collectives/cost.hpp. There is one zone with computed routes, so that the text
/// is linear in the vertices.
std::string platform_of(const Tree& tree);

/// Returns "r<rank>" on each line, in rank order.
std::string hosts_of(const Tree& tree);

}  // namespace gradcoll::simulate
