// compress/codec_id.cpp - the registry as one table.
#include "compress/codec_id.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "compress/nm/nm_layout.hpp"

namespace gradcoll {
namespace {

struct CodecRow {
    CodecId id;
    std::string_view name;
    int keep, group;  // of an N:M codec; 0 of all others
};
constexpr CodecRow rows[codec_count] = {
    {CodecId::exact, "exact", 0, 0},   {CodecId::nm_1_4, "1:4", 1, 4},
    {CodecId::nm_2_4, "2:4", 2, 4},    {CodecId::nm_1_8, "1:8", 1, 8},
    {CodecId::nm_2_8, "2:8", 2, 8},    {CodecId::nm_4_8, "4:8", 4, 8},
    {CodecId::nm_1_16, "1:16", 1, 16}, {CodecId::bf16, "bf16", 0, 0},
};
static_assert(lossy_block_elems == nm::block_elems);

const CodecRow& row_of(CodecId codec) {
    return rows[static_cast<std::size_t>(codec)];
}

std::size_t nm_bytes(const CodecRow& row, std::size_t elem_bytes, std::size_t count) {
    const std::size_t keep = static_cast<std::size_t>(row.keep);
    const std::size_t group = static_cast<std::size_t>(row.group);
    const std::size_t groups = count / group;
    const std::size_t mask_words = (groups * group + nm::window_elems - 1) / nm::window_elems;
    return mask_words * sizeof(std::uint32_t) + (groups * keep + count % group) * elem_bytes;
}

}  // namespace

Result<CodecId> codec_from_name(std::string_view name) {
    if (name == "off" || name == "none" || name == "4:4") return CodecId::exact;
    for (const CodecRow& row : rows)
        if (row.name == name) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("codec \"{}\" is unknown; allowed: exact (off, none, 4:4), 1:4, 2:4, "
                              "1:8, 2:8, 4:8, 1:16, bf16",
                              printable(name)));
}

std::string_view name_of(CodecId codec) {
    return row_of(codec).name;
}

std::string description_of(CodecId codec) {
    const CodecRow& row = row_of(codec);
    if (codec == CodecId::exact) return "sends values as they are (also: off, none, 4:4)";
    if (codec == CodecId::bf16) return "rounds to bfloat16, to nearest even";
    const std::string kept =
        row.keep == 1 ? "largest magnitude" : fmt::format("{} largest magnitudes", row.keep);
    return fmt::format("keeps the {} of every {} adjacent values", kept, row.group);
}

bool codec_supports(CodecId codec, ElementType type) {
    if (codec == CodecId::exact) return true;
    return codec == CodecId::bf16 ? type == ElementType::f32 : is_floating(type);
}

std::size_t codec_block_elems(CodecId codec) {
    return codec == CodecId::exact ? 1 : lossy_block_elems;
}

/// All codecs of this version.
bool has_fixed_rate(CodecId) {
    return true;
}

std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count) {
    if (codec == CodecId::exact) return count * elem_bytes;
    if (codec == CodecId::bf16) return count * 2;
    return nm_bytes(row_of(codec), elem_bytes, count);
}

}  // namespace gradcoll
