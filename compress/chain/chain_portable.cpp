// compress/chain/chain_portable.cpp - where there is no AVX: the scalar kernels serve.
#include "compress/chain/chain_kernels.hpp"

namespace gradcoll {

Kernels chain_kernels_avx2(int, int, ElementType) {
    return {};
}
Kernels chain_kernels_avx512(int, int, ElementType) {
    return {};
}

}  // namespace gradcoll
