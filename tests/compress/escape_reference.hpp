// tests/compress/escape_reference.hpp - quantization with a tolerance, written to be read.
#pragma once

#include "compress/codec_id.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {

/// Returns whether it is int, or int8, int4 or int16 with `abs` or `rel`.
bool is_escaping(CodecId codec);

Bytes encode_escaping(CodecId codec, ElementType type, const Bytes& plain);
Bytes decode_escaping(CodecId codec, ElementType type, const Bytes& encoded, std::size_t count);

}  // namespace gradcoll::test
