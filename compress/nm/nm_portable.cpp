// compress/nm/nm_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/nm/nm_kernels.hpp"

namespace gradcoll {

Kernels nm_kernels_avx2(int, int, ElementType) {
    return {};
}
Kernels nm_kernels_avx512(int, int, ElementType) {
    return {};
}

}  // namespace gradcoll
