// compress/bound/bound_scalar.cpp - in plain C++: the reference of all other versions.
#include "compress/bound/bound_table.hpp"

namespace gradcoll {

Kernels bound_kernels_scalar(ElementType type) {
    return bound::kernels_for<bound::ScalarBlock>(type);
}

}  // namespace gradcoll
