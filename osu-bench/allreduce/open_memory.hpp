// open_memory.hpp - opens the memory of a name.
#pragma once

#include <string>

#include "memory.hpp"

namespace gradcoll::bench {

/// Opens a memory: "host", or a device plug-in by its name in lower case ("cuda"). Ranks of one
/// host take its devices in turn. Collective over MPI_COMM_WORLD; the result is for this rank
/// alone.
OpenedMemory open_memory(const std::string& name);

}  // namespace gradcoll::bench
