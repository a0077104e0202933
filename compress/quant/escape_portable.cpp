// compress/quant/escape_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/quant/escape_kernels.hpp"

namespace gradcoll {

Kernels escape_kernels_avx2(int, ElementType) {
    return {};
}
Kernels escape_kernels_avx512(int, ElementType) {
    return {};
}

}  // namespace gradcoll
