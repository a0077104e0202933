// tests/compress/reference.hpp - the codecs once more, written as plainly as possible and sharing
// no code with compress/ (but for stages from outside, which bring no other reference than their
// scalar kernels).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// ---- parts of these, each one element and one operation after another, as the README of its stage
// says it

/// Returns the bits of a code; 0 if the codec is another.
int quantizer_bits(CodecId codec);

Bytes encode_quantized(int bits, ElementType type, const Bytes& plain);
Bytes decode_quantized(int bits, ElementType type, const Bytes& encoded, std::size_t count);

bool is_bound(CodecId codec);

Bytes encode_bound(double abs, ElementType type, const Bytes& plain);
Bytes decode_bound(ElementType type, const Bytes& encoded, std::size_t count);

/// A Chain keeps N of every four, in codes of this many bits.
struct Chain {
    CodecId chooser;
    std::size_t keep;
    int bits;
};
std::optional<Chain> chain_of(CodecId codec);

Bytes encode_chain(const Chain& chain, ElementType type, const Bytes& plain);
Bytes decode_chain(const Chain& chain, ElementType type, const Bytes& encoded, std::size_t count);

/// Returns whether it is int, or int8, int4 or int16 with `abs` or `rel`.
bool is_escaping(CodecId codec);

Bytes encode_escaping(CodecId codec, ElementType type, const Bytes& plain);
Bytes decode_escaping(CodecId codec, ElementType type, const Bytes& encoded, std::size_t count);

}  // namespace gradcoll::test
