// info/ranks.hpp - the tree that ranks get, and what an allreduce of theirs would do, in words
// and as a picture.
#pragma once

#include <string>

#include "options.hpp"

namespace gradcoll::info {

/// Ranks are those of MPI_COMM_WORLD, two or more, for which every answer is collective; or
/// foreseen ones, which need not exist: Options::ranks on this host; 0: as many as GC_TOPOLOGY
/// names.
enum class Ranks { world, foreseen };

/// Returns the same text on all ranks. Foreseen ranks need no MPI.
std::string topology_of(Ranks ranks, const Options& options);

/// Returns a text with each rank's own bytes. MPI must be running.
std::string explanation_of(Ranks ranks, const Options& options);

/// Returns the picture of a plan (--topology --plan), with each rank's own bytes. MPI must be
/// running.
std::string plan_of(Ranks ranks, const Options& options);

}  // namespace gradcoll::info
