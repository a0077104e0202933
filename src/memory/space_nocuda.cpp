// Memory spaces of a build without CUDA.
#include "memory/space.hpp"

namespace gradcoll {

MemorySpace space_of(const void*) {
    return MemorySpace::host;
}

bool device_driver_is_there() {
    return false;
}

bool device_driver_in_use() {
    return false;
}

}  // namespace gradcoll
