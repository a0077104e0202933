// compress/bound/bound_avx2.cpp - with AVX2.
#include "compress/bound/bound_table.hpp"
#include "compress/bound/bound_vector_block.hpp"
#include "compress/lanes/avx2.hpp"

namespace gradcoll {
namespace {

template <class Format>
using BoundBlock = bound::VectorBlock<Avx2Lanes<Format>, Avx2>;

}  // namespace

Kernels bound_kernels_avx2(ElementType type) {
    return bound::kernels_for<BoundBlock>(type);
}

}  // namespace gradcoll
