// compress/bound/bound_avx512.cpp - with AVX-512.
#include "compress/bound/bound_table.hpp"
#include "compress/bound/bound_vector_block.hpp"
#include "compress/lanes/avx512.hpp"

namespace gradcoll {
namespace {

template <class Format>
using BoundBlock = bound::VectorBlock<Avx512Lanes<Format>, Avx512>;

}  // namespace

Kernels bound_kernels_avx512(ElementType type) {
    return bound::kernels_for<BoundBlock>(type);
}

}  // namespace gradcoll
