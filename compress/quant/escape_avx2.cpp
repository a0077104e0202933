// compress/quant/escape_avx2.cpp - quantization with a tolerance with AVX2.
#include "compress/quant/escape_table.hpp"
#include "compress/quant/escape_vector_block.hpp"
#include "compress/quant/quant_avx2.hpp"

namespace gradcoll {
namespace {

template <class W, class Format>
using EscapeBlock = quant::EscapeVectorBlock<W, Avx2Lanes<Format>, quant::QuantAvx2>;

}  // namespace

Kernels escape_kernels_avx2(int bits, ElementType type) {
    return quant::kernels_by_type<quant::WithEscapes<EscapeBlock>>(bits, type);
}

}  // namespace gradcoll
