// compress/chain/chain_avx2.cpp - chains with AVX2.
#include "compress/chain/chain_table.hpp"
#include "compress/nm/nm_packer_avx2.hpp"
#include "compress/quant/quant_avx2.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll {
namespace {

struct WithAvx2 {
    template <class Shape, class Format>
    using Nm = nm::VectorBlock<Shape, nm::VectorWindow<nm::Avx2Packer<typename Format::Bits>>,
                               Avx2Lanes<Format>>;
    template <class W, class Format, std::size_t block>
    using Quant = quant::VectorBlock<W, Avx2Lanes<Format>, quant::QuantAvx2, block>;
};

}  // namespace

Kernels chain_kernels_avx2(int keep, int bits, ElementType type) {
    return chain::kernels_for<WithAvx2>(keep, bits, type);
}

}  // namespace gradcoll
