// compress/quant/escape_avx512.cpp - quantization with a tolerance with AVX-512.
#include "compress/quant/escape_table.hpp"
#include "compress/quant/escape_vector_block.hpp"
#include "compress/quant/quant_avx512.hpp"

namespace gradcoll {
namespace {

template <class W, class Format>
using EscapeBlock = quant::EscapeVectorBlock<W, Avx512Lanes<Format>, quant::QuantAvx512>;

}  // namespace

Kernels escape_kernels_avx512(int bits, ElementType type) {
    return quant::kernels_by_type<quant::WithEscapes<EscapeBlock>>(bits, type);
}

}  // namespace gradcoll
