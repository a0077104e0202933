// compress/bound/bound_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/bound/bound_kernels.hpp"

namespace gradcoll {

Kernels bound_kernels_avx2(ElementType) {
    return {};
}
Kernels bound_kernels_avx512(ElementType) {
    return {};
}

}  // namespace gradcoll
