// compress/exact/exact_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/exact/exact_kernels.hpp"

namespace gradcoll {

Kernels exact_kernels_avx2(ElementType) {
    return {};
}
Kernels exact_kernels_avx512(ElementType) {
    return {};
}

}  // namespace gradcoll
