// tests/compress/quant_reference.hpp - the quantizing codecs as compress/quant/README.md says them,
// one element and one operation after another: a part of reference.hpp.
#pragma once

#include "compress/reference.hpp"

namespace gradcoll::test {

/// Returns the bits of a code; 0 if the codec is another.
int quantizer_bits(CodecId codec);

Bytes encode_quantized(int bits, ElementType type, const Bytes& plain);
Bytes decode_quantized(int bits, ElementType type, const Bytes& encoded, std::size_t count);

}  // namespace gradcoll::test
