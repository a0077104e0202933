// compress/exact/exact_avx512.cpp - plain copies with AVX-512.
#include "compress/exact/exact_stream.hpp"
#include "compress/lanes/avx512.hpp"

namespace gradcoll {

Kernels exact_kernels_avx512(ElementType type) {
    return exact_kernels_for<Avx512Lanes>(type);
}

}  // namespace gradcoll
