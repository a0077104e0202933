// compress/cast/bf16_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/cast/bf16_kernels.hpp"

namespace gradcoll {

Kernels bf16_kernels_avx2(ElementType) {
    return {};
}
Kernels bf16_kernels_avx512(ElementType) {
    return {};
}

}  // namespace gradcoll
