// compress/nm/nm_avx2.cpp - N:M with AVX2.
#include "compress/lanes/avx2.hpp"
#include "compress/nm/nm_packer_avx2.hpp"
#include "compress/nm/nm_table.hpp"

namespace gradcoll {
namespace {

template <class Shape, class Format>
using NmBlock = nm::VectorBlock<Shape, nm::VectorWindow<nm::Avx2Packer<typename Format::Bits>>,
                                Avx2Lanes<Format>>;

}  // namespace

Kernels nm_kernels_avx2(int keep, int group, ElementType type) {
    return nm::kernels_for<NmBlock>(keep, group, type);
}

}  // namespace gradcoll
