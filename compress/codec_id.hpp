// compress/codec_id.hpp - the codecs by number, name and size: all that a planner needs to know of
// them. What is told here comes from the table of stages. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "compress/stage.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// A CodecId is a registered codec and its parameters. The low byte is the codec's number, which
/// travels on the wire and never changes its meaning; any number of the table is one, also without
/// a constant here: these are for code that means just that codec. The high byte is 0 without
/// parameters, else where this process keeps them (codec_with): other processes may keep them
/// elsewhere.
enum class CodecId : std::uint16_t {
    exact = 0,
    nm_1_4 = 1,
    nm_2_4 = 2,
    nm_1_8 = 3,
    nm_2_8 = 4,
    nm_4_8 = 5,
    nm_1_16 = 6,
    bf16 = 7,
    int8 = 8,
    int4 = 9,
    int16 = 10,
    bound = 11,
    nm_2_4_int8 = 12,
    nm_1_4_int8 = 13,
    nm_2_4_int4 = 14,
    grid = 16,
    zip = 17,
};

constexpr std::uint8_t number_of(CodecId codec) {
    return static_cast<std::uint8_t>(codec);
}
/// Returns the codec without its parameters.
constexpr CodecId plain(CodecId codec) {
    return CodecId{number_of(codec)};
}

/// Returns the codecs that settings name, without parameters, in the order of the table; the first
/// is `exact`.
std::span<const CodecId> all_codecs();
bool is_registered(CodecId codec);
/// Returns the place of plain(codec) in the table, which begins with all_codecs(). This and what
/// follows need a registered codec.
std::size_t index_of(CodecId codec);

/// Returns the codec with these parameters, the same id for the same parameters. Errors:
/// out_of_memory if the process has used 255 different ones before.
Result<CodecId> codec_with(CodecId codec, const CodecParameters& parameters);
CodecParameters parameters_of(CodecId codec);
/// Returns how its messages are packed once more; without_packing() is the same codec with messages
/// as they are.
Packing packing_of(CodecId codec);
CodecId without_packing(CodecId codec);

/// Reads a codec from its text (compress/codec_spec.hpp). Errors: invalid_argument that names the
/// value and lists what is allowed; those of codec_with().
Result<CodecId> codec_from_name(std::string_view name);
/// Returns the text that codec_from_name() reads. It stays valid.
std::string_view name_of(CodecId codec);
/// Returns a text for people: "keeps the 2 largest magnitudes of every 4 adjacent values".
std::string description_of(CodecId codec);

/// Returns whether the codec is defined for elements of this type.
bool codec_supports(CodecId codec, ElementType type);
/// Returns a text for people: "all types", "fp16, bf16, fp32, fp64".
std::string types_of(CodecId codec);

/// A codec works on blocks of this many elements: ranges are cut at multiples of it, so that a
/// piece encodes to the same bytes wherever it is cut out (a planner's granule). 1 for exact; it
/// divides lossy_block_elems.
std::size_t codec_block_elems(CodecId codec);
/// Does the same for plain(codec) given these parameters.
std::size_t codec_block_elems(CodecId codec, const CodecParameters& parameters);

/// Returns which parameters the codec may be given.
const TakenParameters& parameters_for(CodecId codec);
/// Returns whether each call is to say what it may lose: CodecParameters::abs.
bool waits_for_tolerance(CodecId codec);
/// Checks the codec for programs in which no call says it. Errors: invalid_argument if the codec
/// waits for one.
Status check_told(CodecId codec);
/// Returns the codec waiting for a tolerance; itself if it does so already or cannot keep one.
/// Errors: those of codec_with().
Result<CodecId> told_by_call(CodecId codec);

/// Returns how many parts of what a call may lose one encoding takes: 0 for exact, and 1 unless the
/// codec waits for its tolerance and says more.
int loss_parts_of(CodecId codec);
inline constexpr int most_loss_parts = 64;
/// Returns the codec with `parts` parts, 1 to most_loss_parts. waits_for_tolerance() must hold,
/// or parameters_for() have abs. Errors: those of codec_with().
Result<CodecId> with_loss_parts(CodecId codec, int parts);
/// Returns whether it waits for its tolerance, and a looser one makes all its encodings shorter.
bool shortens_with_tolerance(CodecId codec);

/// Returns whether every encoding is exactly bound_bytes() long, so that a receiver knows its
/// length.
bool has_fixed_rate(CodecId codec);
/// Does the same for plain(codec) given these parameters, of which a peer may have said some.
bool has_fixed_rate(CodecId codec, const CodecParameters& parameters);

/// Returns the most bytes that `count` elements of `elem_bytes` each encode to: what a buffer must
/// have room for. Linear over whole blocks: bytes(a + b) == bytes(a) + bytes(b) if a is a multiple
/// of the block.
std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count);
/// Does the same for plain(codec) given these parameters.
std::size_t bound_bytes(CodecId codec, const CodecParameters& parameters, std::size_t elem_bytes,
                        std::size_t count);

/// Returns how fast the stage says that it is, unmeasured here.
const CodecRates& rates_of(CodecId codec);

}  // namespace gradcoll
