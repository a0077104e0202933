// tests/compress/reference.hpp - the codecs once more, written as plainly as possible and sharing
// no code with compress/ (but for stages from outside, which bring no other reference than their
// scalar kernels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll::test {

using Bytes = std::vector<std::byte>;

/// Converts an element's bits to a number, and the other way round. Rounds to nearest even by
/// searching the format's values.
double value_of(ElementType type, std::uint64_t bits);
std::uint64_t bits_of(ElementType type, double value);
bool is_nan(ElementType type, std::uint64_t bits);

std::uint64_t element(const Bytes& array, ElementType type, std::size_t index);
void append_element(Bytes& array, ElementType type, std::uint64_t bits);
std::size_t elements_in(const Bytes& array, ElementType type);

/// Returns whether a codec is the library's own, not one that a build has added from outside.
bool is_own(CodecId codec);

Bytes reference_encode(CodecId codec, ElementType type, const Bytes& plain);
Bytes reference_decode(CodecId codec, ElementType type, const Bytes& encoded, std::size_t count);
/// Returns base + decoded; NaN results are the quiet NaN without payload.
Bytes reference_sum(CodecId codec, ElementType type, const Bytes& encoded, const Bytes& base);

}  // namespace gradcoll::test
