// gc_info/explain.hpp - what an allreduce would do, in words and as a picture.
#pragma once

#include <string>

#include "options.hpp"

namespace gc_info {

/// On MPI_COMM_WORLD, which has two ranks or more. Collective; each rank's text tells its own
/// bytes.
std::string world_explanation(const Options& options);

/// For Options::ranks on this host; 0: as many as GC_TOPOLOGY names. MPI must be running.
std::string foreseen_explanation(const Options& options);

/// The same of the picture of a plan (--topology --plan).
std::string world_plan(const Options& options);
std::string foreseen_plan(const Options& options);

}  // namespace gc_info
