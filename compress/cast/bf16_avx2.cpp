// compress/cast/bf16_avx2.cpp - fp32 as bf16 with AVX2.
#include "compress/cast/bf16_stream.hpp"
#include "compress/lanes/avx2.hpp"

namespace gradcoll {

Kernels bf16_kernels_avx2(ElementType type) {
    return bf16_kernels_for<Avx2Lanes<Bf16>>(type);
}

}  // namespace gradcoll
