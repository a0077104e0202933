// open_memory.hpp - the memory that a name stands for.
#pragma once

#include <string>

#include "memory.hpp"

namespace gradcoll::bench {

/// name: "host", or a device plug-in by its name in lower case ("cuda"). Ranks of one host take its
/// devices round and round. Collective over MPI_COMM_WORLD; the answer is this rank's alone.
OpenedMemory open_memory(const std::string& name);

}  // namespace gradcoll::bench
