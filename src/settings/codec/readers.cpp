// settings/codec/readers.cpp - how data is compressed.
#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

Result<HopCodecs> parse_level_codecs(std::string_view text) {
    if (text.empty()) return HopCodecs();
    return hop_codecs_from(without_blanks(text));
}

Result<std::optional<CodecId>> parse_down_codec(std::string_view text) {
    if (text == "same") return std::optional<CodecId>();
    const auto codec = codec_from_name(text);
    if (!codec) return codec.status();
    return std::optional<CodecId>(*codec);
}

Result<std::optional<ResultTolerance>> parse_tolerance(std::string_view text) {
    using Kind = ResultTolerance::Kind;
    if (text == "per-hop") return std::optional<ResultTolerance>();
    const std::size_t number = text.find('=') + 1;
    const std::string_view word = text.substr(0, number);
    if (word != "abs=" && word != "range=")
        return Status(Code::invalid_argument,
                      fmt::format("'{}' is not allowed: {}", printable(text),
                                  info_of(OptionId::tolerance).allowed));
    const double value = GRADCOLL_VALUE(parse_positive(text.substr(number)));
    return std::optional(ResultTolerance{word == "abs=" ? Kind::abs : Kind::range, value});
}

Result<CompressIf> parse_compress_if(std::string_view word) {
    constexpr std::string_view names[] = {"always", "pays"};
    return one_of<CompressIf>(word, names, info_of(OptionId::compress_if).allowed);
}

}  // namespace

SettingRow codec_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.codec, codec_from_name(text));
    }};
}

SettingRow level_codecs_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.level_codecs, parse_level_codecs(text));
    }};
}

SettingRow down_codec_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.down_codec, parse_down_codec(text));
    }};
}

SettingRow tolerance_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.tolerance, parse_tolerance(text));
    }};
}

SettingRow compress_if_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.compress_if, parse_compress_if(text));
    }};
}

}  // namespace gradcoll
