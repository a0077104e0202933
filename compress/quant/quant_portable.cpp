// compress/quant/quant_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/quant/quant_kernels.hpp"

namespace gradcoll {

Kernels quant_kernels_avx2(int, ElementType) {
    return {};
}
Kernels quant_kernels_avx512(int, ElementType) {
    return {};
}
Kernels dither_kernels_avx2(int, ElementType) {
    return {};
}
Kernels dither_kernels_avx512(int, ElementType) {
    return {};
}

}  // namespace gradcoll
