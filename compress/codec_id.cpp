// compress/codec_id.cpp - what the table says of a codec.
#include "compress/codec_id.hpp"

#include <fmt/format.h>

#include <vector>

#include "compress/codec_spec.hpp"
#include "compress/stages.hpp"

namespace gradcoll {
namespace {

std::uint8_t number_of(CodecId codec) {
    return static_cast<std::uint8_t>(codec);
}

const CodecEntry& entry_of(CodecId codec) {
    return codec_entries()[place_of_codec(number_of(codec))];
}

}  // namespace

std::span<const CodecId> all_codecs() {
    static const std::vector<CodecId> all = [] {
        std::vector<CodecId> codecs;
        for (const CodecEntry& entry : codec_entries())
            codecs.push_back(static_cast<CodecId>(entry.member->number));
        return codecs;
    }();
    return all;
}

bool is_registered(CodecId codec) {
    return place_of_codec(number_of(codec)) != no_codec;
}

std::size_t index_of(CodecId codec) {
    return place_of_codec(number_of(codec));
}

Result<CodecId> codec_from_name(std::string_view name) {
    const CodecSpec spec = GRADCOLL_VALUE(CodecSpec::parse(name));
    return static_cast<CodecId>(spec.number());
}

std::string_view name_of(CodecId codec) {
    return entry_of(codec).member->name;
}

std::string description_of(CodecId codec) {
    const CodecEntry& entry = entry_of(codec);
    return entry.stage->description(*entry.member);
}

bool codec_supports(CodecId codec, ElementType type) {
    const CodecEntry& entry = entry_of(codec);
    return entry.stage->supports(*entry.member, type);
}

std::string types_of(CodecId codec) {
    std::string text;
    bool is_for_all = true;
    for (int number = 0; number <= static_cast<int>(ElementType::opaque); ++number) {
        const auto type = static_cast<ElementType>(number);
        if (codec_supports(codec, type))
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(type));
        else
            is_for_all = false;
    }
    return is_for_all ? "all types" : text;
}

std::size_t codec_block_elems(CodecId codec) {
    return entry_of(codec).stage->block_elems;
}

bool has_fixed_rate(CodecId codec) {
    return entry_of(codec).stage->has_fixed_rate;
}

std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count) {
    const CodecEntry& entry = entry_of(codec);
    return entry.stage->bound_bytes(*entry.member, elem_bytes, count);
}

const CodecRates& rates_of(CodecId codec) {
    return entry_of(codec).member->rates;
}

}  // namespace gradcoll
