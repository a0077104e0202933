// compress/frame.cpp - writing and checking the message header (layout: compress/README.md).
#include "compress/frame.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>

#include "compress/block_lengths.hpp"
#include "compress/packing.hpp"
#include "compress/stage.hpp"

namespace gradcoll {
namespace {

constexpr char magic[4] = {'G', 'C', 'F', '1'};
constexpr std::uint8_t flag_sender_failed = 1;
constexpr std::uint8_t flag_block_lengths = 2;
constexpr std::uint8_t flag_reference = 4;

/// These are byte offsets.
enum Field : std::size_t {
    at_magic = 0,
    at_version = 4,
    at_codec = 6,
    at_type = 7,
    at_flags = 8,
    at_packing = 9,
    at_reserved = 10,
    at_count = 16,
    at_payload = 24,
    at_tolerance = 32,
    at_rel = 40,
    at_seed = 48,
    at_rest = 52,
    at_plain = 56
};

template <class T>
void put(std::byte* header, std::size_t at, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
        header[at + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
}

template <class T>
T get(const std::byte* header, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value |= static_cast<std::uint64_t>(header[at + i]) << (8 * i);
    return static_cast<T>(value);
}

template <class Got, class Expected>
Status wrong(std::string_view field, const Got& got, const Expected& expected) {
    return {Code::corrupt,
            fmt::format("message header: {} is {}, expected {}", field, got, expected)};
}

bool all_zero(const std::byte* header, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
        if (header[i] != std::byte{0}) return false;
    return true;
}

bool has_block_lengths(const FrameHeader& header) {
    return !header.is_plain && !has_fixed_rate(header.codec, header.parameters);
}

std::uint8_t flags_of_payload(const FrameHeader& header) {
    return has_block_lengths(header) ? flag_block_lengths : std::uint8_t{0};
}

Status check_begin(const std::byte* header) {
    if (std::memcmp(header + at_magic, magic, sizeof magic) != 0)
        return wrong("magic", fmt::format("{:#010x}", get<std::uint32_t>(header, at_magic)),
                     "\"GCF1\"");
    const auto version = get<std::uint16_t>(header, at_version);
    if (version != frame_version)
        return wrong("version", version,
                     fmt::format("{}; all ranks must run the same Gradcoll", frame_version));
    if (!all_zero(header, at_reserved, at_count) || !all_zero(header, at_rest, at_plain))
        return wrong("a reserved byte", "not zero", "zero");
    return {};
}

/// Checks the fields that are the same in all headers. A message that is packed does not come
/// further than read_packing(), except from a rank whose codec is another one.
Status check_fixed_fields(const std::byte* header) {
    GRADCOLL_TRY(check_begin(header));
    if (const unsigned packing = get<std::uint8_t>(header, at_packing); packing != 0)
        return wrong("packing", packing, "0 of a codec without it");
    if (const auto plain = get<std::uint64_t>(header, at_plain); plain != 0)
        return wrong("plain payload bytes", plain, "0 of what is not packed");
    return {};
}

Status check_codec_and_type(const std::byte* header) {
    const unsigned codec = get<std::uint8_t>(header, at_codec);
    const auto codec_id = CodecId{static_cast<std::uint8_t>(codec)};
    if (!is_registered(codec_id)) return wrong("codec", codec, "the number of " + allowed_codecs());
    const unsigned type = get<std::uint8_t>(header, at_type);
    const unsigned last_type = static_cast<unsigned>(ElementType::opaque);
    if (type > last_type) return wrong("type", type, fmt::format("0 to {}", last_type));
    const auto type_id = static_cast<ElementType>(type);
    if (!codec_supports(codec_id, type_id))
        return wrong("type", name_of(type_id), fmt::format("one of codec {}", name_of(codec_id)));
    return {};
}

/// Checks the flags. A message that only says where its payload lies does not come this far:
/// whoever asked for it has fetched the payload, and taken that flag away.
Status check_flags(unsigned flags, const FrameHeader& header) {
    const bool is_fixed = has_fixed_rate(header.codec, header.parameters);
    const unsigned allowed = flag_sender_failed | (is_fixed ? 0U : flag_block_lengths);
    if ((flags & ~allowed) != 0)
        return wrong(
            "flags", flags,
            fmt::format("{} of codec {}", is_fixed ? "0 or 1" : "0 to 3", name_of(header.codec)));
    return {};
}

Status check_parameters(const CodecParameters& got, const CodecParameters& expected) {
    if (got == expected) return {};
    if (got.rel != expected.rel) return wrong("relative tolerance", got.rel, expected.rel);
    if (got.seed != expected.seed) return wrong("seed", got.seed, expected.seed);
    return wrong("tolerance", got.abs, expected.abs);
}

/// Checks that there are no bytes without elements, no elements without bytes, and a count whose
/// plain size fits 64 bits.
Status check_counts(const FrameHeader& header) {
    const std::size_t elem = element_bytes(header.type);
    const std::uint64_t most =
        std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(elem == 0 ? 1 : elem);
    if (header.count_elems > most)
        return wrong("count", header.count_elems, fmt::format("at most {}", most));
    const bool empty = header.count_elems == 0;
    if (empty != (header.payload_bytes == 0))
        return wrong(
            "payload bytes", header.payload_bytes,
            fmt::format("{} for {} elements", empty ? "0" : "more than 0", header.count_elems));
    if (header.is_plain && header.payload_bytes != header.count_elems * elem)
        return wrong(
            "payload bytes", header.payload_bytes,
            fmt::format("{} of {} plain elements", header.count_elems * elem, header.count_elems));
    return {};
}

}  // namespace

void write_frame_header(const FrameHeader& header, std::byte* out) {
    std::memset(out, 0, frame_header_bytes);
    std::memcpy(out + at_magic, magic, sizeof magic);
    put(out, at_version, frame_version);
    put(out, at_codec, number_of(header.codec));
    put(out, at_type, static_cast<std::uint8_t>(header.type));
    const std::uint8_t failed = header.sender_failed ? flag_sender_failed : std::uint8_t{0};
    put(out, at_flags, static_cast<std::uint8_t>(failed | flags_of_payload(header)));
    put(out, at_count, header.count_elems);
    put(out, at_payload, header.payload_bytes);
    put(out, at_tolerance, std::bit_cast<std::uint64_t>(header.parameters.abs));
    put(out, at_rel, std::bit_cast<std::uint64_t>(header.parameters.rel));
    put(out, at_seed, header.parameters.seed);
}

Result<FrameHeader> read_frame_header(const std::byte* message, std::size_t message_bytes) {
    if (message_bytes < frame_header_bytes)
        return wrong("message length", message_bytes,
                     fmt::format("at least {}", frame_header_bytes));
    if (Status status = check_fixed_fields(message); !status) return status;
    if (Status status = check_codec_and_type(message); !status) return status;
    FrameHeader header;
    header.codec = CodecId{get<std::uint8_t>(message, at_codec)};
    header.parameters.abs = std::bit_cast<double>(get<std::uint64_t>(message, at_tolerance));
    header.parameters.rel = std::bit_cast<double>(get<std::uint64_t>(message, at_rel));
    header.parameters.seed = get<std::uint32_t>(message, at_seed);
    const unsigned flags = get<std::uint8_t>(message, at_flags);
    if (Status status = check_flags(flags, header); !status) return status;
    header.type = static_cast<ElementType>(get<std::uint8_t>(message, at_type));
    header.sender_failed = (flags & flag_sender_failed) != 0;
    header.is_plain =
        (flags & flag_block_lengths) == 0 && !has_fixed_rate(header.codec, header.parameters);
    header.count_elems = get<std::uint64_t>(message, at_count);
    header.payload_bytes = get<std::uint64_t>(message, at_payload);
    if (Status status = check_counts(header); !status) return status;
    if (header.payload_bytes != message_bytes - frame_header_bytes)
        return wrong("payload bytes", header.payload_bytes, message_bytes - frame_header_bytes);
    return header;
}

Status check_frame(const FrameHeader& got, const FrameHeader& expected) {
    if (got.sender_failed)
        return {Code::peer_failed, "message header: the sender failed in this operation"};
    if (got.codec != expected.codec)
        return wrong("codec", name_of(got.codec), name_of(expected.codec));
    GRADCOLL_TRY(check_parameters(got.parameters, expected.parameters));
    if (got.type != expected.type) return wrong("type", name_of(got.type), name_of(expected.type));
    if (got.count_elems != expected.count_elems)
        return wrong("count", got.count_elems, expected.count_elems);
    const bool is_fixed = has_fixed_rate(got.codec, got.parameters);
    if (is_fixed ? got.payload_bytes == expected.payload_bytes
                 : got.payload_bytes <= expected.payload_bytes)
        return {};
    return wrong("payload bytes", got.payload_bytes,
                 fmt::format("{}{}", is_fixed ? "" : "at most ", expected.payload_bytes));
}

std::size_t counted_blocks(CodecId codec, std::size_t count_elems) {
    if (has_fixed_rate(codec)) return 0;
    const std::size_t block = codec_block_elems(codec);
    return count_elems / block + (count_elems % block != 0 ? 1 : 0);
}

std::size_t frame_front_bytes(CodecId codec, std::size_t count_elems) {
    if (codec == CodecId::exact) return 0;
    return frame_header_bytes + counted_blocks(codec, count_elems) * block_length_bytes;
}

void write_packing(std::byte* header, Packing by, std::uint64_t packed_bytes) {
    put(header, at_packing, static_cast<std::uint8_t>(by));
    put(header, at_plain, get<std::uint64_t>(header, at_payload));
    put(header, at_payload, packed_bytes);
}

Result<PackedPayload> read_packing(const std::byte* message, std::size_t message_bytes) {
    if (message_bytes < frame_header_bytes)
        return wrong("message length", message_bytes,
                     fmt::format("at least {}", frame_header_bytes));
    if (Status status = check_begin(message); !status) return status;
    const unsigned packing = get<std::uint8_t>(message, at_packing);
    const std::uint64_t behind = message_bytes - frame_header_bytes;
    if (packing == 0) return PackedPayload{Packing::none, behind, behind};
    PackedPayload payload{static_cast<Packing>(packing), get<std::uint64_t>(message, at_payload),
                          get<std::uint64_t>(message, at_plain)};
    if (name_of(payload.by).empty())
        return wrong("packing", packing, "0 or the number of a packing");
    if (payload.packed_bytes != behind) return wrong("payload bytes", payload.packed_bytes, behind);
    if (payload.plain_bytes <= payload.packed_bytes)
        return wrong("plain payload bytes", payload.plain_bytes,
                     fmt::format("more than the {} that are packed", payload.packed_bytes));
    return payload;
}

void clear_packing(std::byte* header) {
    put(header, at_payload, get<std::uint64_t>(header, at_plain));
    put(header, at_packing, std::uint8_t{0});
    put(header, at_plain, std::uint64_t{0});
}

void set_reference_flag(std::byte* header, bool by_reference) {
    const unsigned others = get<std::uint8_t>(header, at_flags) & ~unsigned{flag_reference};
    put(header, at_flags, static_cast<std::uint8_t>(others | (by_reference ? flag_reference : 0)));
}

Result<bool> has_reference_flag(const std::byte* message, std::size_t message_bytes) {
    if (message_bytes < frame_header_bytes)
        return wrong("message length", message_bytes,
                     fmt::format("at least {}", frame_header_bytes));
    if (Status status = check_fixed_fields(message); !status) return status;
    return (get<std::uint8_t>(message, at_flags) & flag_reference) != 0;
}

}  // namespace gradcoll
