// compress/nm/nm_avx512.cpp - N:M with AVX-512.
#include "compress/lanes/avx512.hpp"
#include "compress/nm/nm_packer_avx512.hpp"
#include "compress/nm/nm_table.hpp"

namespace gradcoll {
namespace {

template <class Shape, class Format>
using NmBlock = nm::VectorBlock<Shape, nm::VectorWindow<nm::Avx512Packer<typename Format::Bits>>,
                                Avx512Lanes<Format>>;

}  // namespace

Kernels nm_kernels_avx512(int keep, int group, ElementType type) {
    return nm::kernels_for<NmBlock>(keep, group, type);
}

}  // namespace gradcoll
