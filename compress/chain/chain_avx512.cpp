// compress/chain/chain_avx512.cpp - chains with AVX-512.
#include "compress/chain/chain_table.hpp"
#include "compress/nm/nm_packer_avx512.hpp"
#include "compress/quant/quant_avx512.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll {
namespace {

struct WithAvx512 {
    template <class Shape, class Format>
    using Nm = nm::VectorBlock<Shape, nm::VectorWindow<nm::Avx512Packer<typename Format::Bits>>,
                               Avx512Lanes<Format>>;
    template <class W, class Format, std::size_t block>
    using Quant = quant::VectorBlock<W, Avx512Lanes<Format>, quant::QuantAvx512, block>;
};

}  // namespace

Kernels chain_kernels_avx512(int keep, int bits, ElementType type) {
    return chain::kernels_for<WithAvx512>(keep, bits, type);
}

}  // namespace gradcoll
