// ways/learn/kept_ways.hpp - which way was found to be the faster one, for communicators and jobs
// that come later.
#pragma once

#include <string>
#include <string_view>

#include "topology/tree.hpp"
#include "ways/learn/way_trials.hpp"

namespace gradcoll {

/// Of the same ranks on hosts of the same names, below the same switches: by an earlier
/// communicator of this process, or by an earlier job of this user with the same MPI library
/// (topology/sources/cluster/kept_file.hpp). Thread safe, as the next one.
TriedWays kept_ways(const Tree& tree);

/// What is unknown leaves what was kept before.
void keep_ways(const Tree& tree, const TriedWays& ways);

/// What such a file holds.
std::string text_of(const TriedWays& ways);
/// Untrusted. Of a text that holds something else nothing is known.
TriedWays ways_from(std::string_view text);

}  // namespace gradcoll
