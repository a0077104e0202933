// compress/quant/quant_avx512.cpp - quantization with AVX-512.
#include "compress/quant/quant_avx512.hpp"

#include "compress/quant/dither_table.hpp"
#include "compress/quant/quant_table.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll {
namespace {

template <class W, class Format>
using QuantBlock = quant::VectorBlock<W, Avx512Lanes<Format>, quant::QuantAvx512>;

}  // namespace

Kernels quant_kernels_avx512(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedToNearest<QuantBlock>>(bits, type);
}
Kernels dither_kernels_avx512(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedByChance<QuantBlock>>(bits, type);
}

}  // namespace gradcoll
