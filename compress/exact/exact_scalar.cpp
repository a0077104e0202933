// compress/exact/exact_scalar.cpp - plain copies in plain C++: the reference of the other versions.
#include "compress/exact/exact_stream.hpp"
#include "compress/lanes/scalar.hpp"

namespace gradcoll {

Kernels exact_kernels_scalar(ElementType type) {
    return exact_kernels_for<ScalarLanes>(type);
}

}  // namespace gradcoll
