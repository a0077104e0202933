// gc_info/topology.hpp - the tree of the ranks that are there, or of as many as one asks for.
#pragma once

#include <string>

#include "options.hpp"

namespace gc_info {

/// Of MPI_COMM_WORLD, which has two ranks or more. Collective; the text is the same on all ranks.
std::string world_topology(const Options& options);

/// Of Options::ranks on this host; 0: as many as GC_TOPOLOGY names. No MPI needed.
std::string foreseen_topology(const Options& options);

}  // namespace gc_info
