// device_memory.hpp - memory of a device, through the library's own plug-in for it.
#pragma once

#include <string>

#include "memory.hpp"

namespace gradcoll::bench {

/// Does what open_memory() (open_memory.hpp) does, for the names of devices.
OpenedMemory open_device_memory(const std::string& name);

}  // namespace gradcoll::bench
