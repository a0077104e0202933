// compress/exact/exact_avx2.cpp - plain copies with AVX2.
#include "compress/exact/exact_stream.hpp"
#include "compress/lanes/avx2.hpp"

namespace gradcoll {

Kernels exact_kernels_avx2(ElementType type) {
    return exact_kernels_for<Avx2Lanes>(type);
}

}  // namespace gradcoll
