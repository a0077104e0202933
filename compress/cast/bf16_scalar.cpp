// compress/cast/bf16_scalar.cpp - fp32 as bf16 in plain C++: the reference of the other versions.
#include "compress/cast/bf16_stream.hpp"
#include "compress/lanes/scalar.hpp"

namespace gradcoll {

Kernels bf16_kernels_scalar(ElementType type) {
    return bf16_kernels_for<ScalarLanes<Bf16>>(type);
}

}  // namespace gradcoll
