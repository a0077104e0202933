// collectives/choose/least_bytes.hpp - the length from which on the tree serves an exact vector;
// shorter ones wait for messages, and the MPI library sends fewer of them. Pure.
#pragma once

#include <cstdint>

#include "topology/tree.hpp"

namespace gradcoll {

/// This holds if nothing is known of links between hosts, or they are fast.
inline constexpr std::uint64_t usual_least_tree_bytes = 256 << 10;
/// This holds if switches and slow links between hosts are known (docs/benchmarks.md, "Short or
/// long").
inline constexpr std::uint64_t slow_links_least_tree_bytes = 64 << 10;
/// A link of this rate carries slow_links_least_tree_bytes in the time of a few messages.
inline constexpr double slow_link_gbytes_per_s = 1;

std::uint64_t least_tree_bytes_on(const Tree& tree);

}  // namespace gradcoll
