// compress/quant/quant_avx2.cpp - quantization with AVX2.
#include "compress/quant/quant_avx2.hpp"

#include "compress/quant/dither_table.hpp"
#include "compress/quant/quant_table.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll {
namespace {

template <class W, class Format>
using QuantBlock = quant::VectorBlock<W, Avx2Lanes<Format>, quant::QuantAvx2>;

}  // namespace

Kernels quant_kernels_avx2(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedToNearest<QuantBlock>>(bits, type);
}
Kernels dither_kernels_avx2(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedByChance<QuantBlock>>(bits, type);
}

}  // namespace gradcoll
