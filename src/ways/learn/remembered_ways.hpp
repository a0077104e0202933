// ways/learn/remembered_ways.hpp - which way was found to be the faster one, for communicators and
// jobs that come later.
#pragma once

#include <string>
#include <string_view>

#include "topology/tree.hpp"
#include "ways/learn/way_trials.hpp"

namespace gradcoll {

/// Returns the ways of the same ranks on hosts of the same names, below the same switches, as an
/// earlier communicator of this process has found them, or an earlier job of this user with the
/// same MPI library (topology/sources/cluster/kept_networks.hpp). Thread safe, as is
/// remember_ways().
TriedWays remembered_ways(const Tree& tree);

/// Keeps the ways that are known; those that are unknown leave what was kept before.
void remember_ways(const Tree& tree, const TriedWays& ways);

/// Returns the text of the file that keeps `ways`.
std::string text_of(const TriedWays& ways);
/// Reads such a text, which is not trusted. If it holds something else nothing is known.
TriedWays ways_from(std::string_view text);

}  // namespace gradcoll
