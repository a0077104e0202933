// memory/space.hpp - whether the CPU can read what a pointer points to.
#pragma once

#include <cstdint>

namespace gradcoll {

/// MemorySpace::device is memory of a GPU that the CPU cannot read. Managed and pinned memory are
/// host: the CPU can read them.
enum class MemorySpace : std::uint8_t { host, device };

/// Returns where the memory at `pointer` is. Null, unknown and ordinary pointers are host; without
/// a CUDA build, a driver or a device all are. Never initialises a CUDA context that the program
/// has not made. Thread safe. Never fails.
MemorySpace space_of(const void* pointer);

/// Returns whether there is a driver of GPUs, so that pointers to devices may come one day. Loads
/// it, but initialises nothing. Thread safe. Cheap from the second time on.
bool device_driver_is_there();

/// Returns whether this process has initialised the CUDA driver, so that pointers to devices may
/// come. Initialises and loads nothing. Thread safe. Costs a look through the loaded libraries.
bool device_driver_in_use();

}  // namespace gradcoll
