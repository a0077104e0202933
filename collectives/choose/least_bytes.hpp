// collectives/choose/least_bytes.hpp - from which length on the tree is for an exact vector;
// shorter ones wait for messages, of which the MPI library's ways send fewer. Pure.
#pragma once

#include <cstdint>

#include "topology/tree.hpp"

namespace gradcoll {

/// Where nothing is known of links between hosts, or they are fast.
inline constexpr std::uint64_t usual_least_tree_bytes = 256 << 10;
/// Where switches and slow links between hosts are known (docs/benchmarks.md, "Short or long").
inline constexpr std::uint64_t slow_links_least_tree_bytes = 64 << 10;
/// Links of this rate carry slow_links_least_tree_bytes in the time of a few messages.
inline constexpr double slow_link_gbytes_per_s = 1;

std::uint64_t least_tree_bytes_on(const Tree& tree);

}  // namespace gradcoll
