// compress/codec_id.hpp - the codecs by number, name and size: all that a planner needs to know of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Registered numbers; they travel on the wire and never change their meaning.
enum class CodecId : std::uint8_t {
    exact = 0,
    nm_1_4 = 1,
    nm_2_4 = 2,
    nm_1_8 = 3,
    nm_2_8 = 4,
    nm_4_8 = 5,
    nm_1_16 = 6,
    bf16 = 7,
};
inline constexpr int codec_count = 8;

/// "exact" (also "off", "none", "4:4"), "1:4", "2:4", "1:8", "2:8", "4:8", "1:16", "bf16".
/// Errors: invalid_argument that names the value and lists what is allowed.
Result<CodecId> codec_from_name(std::string_view name);
std::string_view name_of(CodecId codec);
/// For people: "keeps the 2 largest magnitudes of every 4 adjacent values".
std::string description_of(CodecId codec);

/// Whether the codec is defined for elements of this type (exact: for all; nm: floats; bf16: fp32).
bool codec_supports(CodecId codec, ElementType type);

/// Lossy codecs work on blocks of this many elements: ranges are cut at multiples of it, so that a
/// piece encodes to the same bytes wherever it is cut out (a planner's granule). 1 for exact.
std::size_t codec_block_elems(CodecId codec);
inline constexpr std::size_t lossy_block_elems = 512;

/// Whether every encoding is exactly bound_bytes() long, so that a receiver knows its length.
bool has_fixed_rate(CodecId codec);

/// The most bytes that `count` elements of `elem_bytes` each encode to: what a buffer must have
/// room for. Linear over whole blocks: bytes(a + b) == bytes(a) + bytes(b) if a is a multiple of
/// the block.
std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count);

}  // namespace gradcoll
