// compress/cast/bf16_avx512.cpp - fp32 as bf16 with AVX-512.
#include "compress/cast/bf16_stream.hpp"
#include "compress/lanes/avx512.hpp"

namespace gradcoll {

Kernels bf16_kernels_avx512(ElementType type) {
    return bf16_kernels_for<Avx512Lanes<Bf16>>(type);
}

}  // namespace gradcoll
