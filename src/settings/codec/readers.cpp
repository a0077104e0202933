// settings/codec/readers.cpp - how data is compressed.
#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// Reads a codec, codecs by level or by kind of link, or a schedule.
Status read_codec(std::string_view text, Settings& out) {
    if (CodecSchedule::has_its_form(text)) return take(out.schedule, CodecSchedule::parse(text));
    const HopCodecs codecs = GRADCOLL_VALUE(hop_codecs_from(without_blanks(text)));
    const CodecId first = codecs.named().front();
    if (codecs == HopCodecs{first})
        out.codec = first;
    else
        out.level_codecs = codecs;
    return {};
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

/// Reads the number of calls per step; 0 if there is none.
Result<std::uint64_t> parse_step_every(std::string_view text) {
    constexpr std::string_view unit = "calls:";
    constexpr std::int64_t most = 1'000'000'000;
    if (text == "none") return std::uint64_t{0};
    if (text.starts_with(unit))
        if (const auto calls = parse_integer(text.substr(unit.size()), 1, most))
            return static_cast<std::uint64_t>(*calls);
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is not allowed; allowed are {}", printable(text),
                              info_of(OptionId::step_every).allowed));
}

}  // namespace

SettingRow codec_setting_row() {
    return {.read = read_codec};
}

SettingRow down_codec_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.down_codec, parse_down_codec(text));
    }};
}

SettingRow step_every_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.calls_per_step, parse_step_every(text));
    }};
}

SettingRow feedback_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.feedback, parse_switch(text)); },
            .shapes_calls = false};
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
