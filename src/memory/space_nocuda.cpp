// Memory spaces of a build without CUDA.
#include "memory/space.hpp"

namespace gradcoll {

MemorySpace space_of(const void*) {
    return MemorySpace::host;
}

}  // namespace gradcoll
