// gc_info/ranks.hpp - what ranks get: their tree, and what an allreduce of theirs would do, in
// words and as a picture.
#pragma once

#include <string>

#include "options.hpp"

namespace gc_info {

/// Those of MPI_COMM_WORLD are two or more, and every answer for them is collective. Foreseen ones
/// need not be there: Options::ranks on this host; 0: as many as GC_TOPOLOGY names.
enum class Ranks { world, foreseen };

/// The same text on all ranks. Foreseen: no MPI needed.
std::string topology_of(Ranks ranks, const Options& options);

/// Each rank's text tells its own bytes. MPI must be running.
std::string explanation_of(Ranks ranks, const Options& options);

/// The same of the picture of a plan (--topology --plan).
std::string plan_of(Ranks ranks, const Options& options);

}  // namespace gc_info
