#include "api/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/words.hpp"

namespace gradcoll {
namespace {

/// Reads one setting; the first failure names it and stays.
class Reader {
  public:
    explicit Reader(const SettingsText& text) : text_(text) {}

    template <class T, class Parse>
    void read(OptionId id, T& out, Parse&& parse) {
        if (!status_.ok()) return;
        auto value = parse(trimmed(text_[id]));
        if (value)
            out = std::move(value).value();
        else
            status_ = {Code::invalid_argument, fmt::format("setting {}: {}", info_of(id).info_key,
                                                           value.status().message())};
    }
    const Status& status() const { return status_; }

  private:
    const SettingsText& text_;
    Status status_;
};

template <class T>
Result<T> one_of(std::string_view word, std::span<const std::string_view> names,
                 std::string_view allowed) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == word) return static_cast<T>(i);
    return Status(Code::invalid_argument, fmt::format("'{}' is not allowed: {}", word, allowed));
}

Result<CheckLevel> parse_check(std::string_view word) {
    constexpr std::string_view names[] = {"off", "local", "collective"};
    return one_of<CheckLevel>(word, names, info_of(OptionId::check).allowed);
}

/// "exact, 2:4" is meant as "exact,2:4".
std::string without_blanks(std::string_view text) {
    std::string out(text);
    std::erase(out, ' ');
    return out;
}

Result<std::vector<CodecId>> parse_level_codecs(std::string_view text) {
    if (text.empty()) return std::vector<CodecId>();
    return level_codecs_from(without_blanks(text));
}

Result<std::optional<CodecId>> parse_down_codec(std::string_view text) {
    if (text == "same") return std::optional<CodecId>();
    const auto codec = codec_from_name(text);
    if (!codec) return codec.status();
    return std::optional<CodecId>(*codec);
}

Result<std::optional<std::uint64_t>> parse_chunk_bytes(std::string_view text) {
    if (text == "auto") return std::optional<std::uint64_t>();
    const auto bytes = parse_bytes(text);
    if (!bytes) return bytes.status();
    return std::optional<std::uint64_t>(*bytes);
}

Result<int> parse_chunks_in_flight(std::string_view text) {
    const auto value = parse_integer(text, 1, 16);
    if (!value) return value.status();
    return static_cast<int>(*value);
}

}  // namespace

SettingsText SettingsText::from_environment() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, option_text(row.id));
    return text;
}

Result<OptionId> option_of_key(std::string_view info_key) {
    std::vector<std::string_view> known;
    for (const OptionInfo& row : option_table()) {
        if (row.info_key.empty()) continue;
        if (row.info_key == info_key) return row.id;
        known.push_back(row.info_key);
    }
    const auto nearest = nearest_word(info_key, known);
    return Status(Code::invalid_argument,
                  fmt::format("'{}' is not a setting{}", info_key,
                              nearest ? fmt::format("; did you mean {}?", *nearest)
                                      : std::string("; see docs/settings.md for all of them")));
}

void SettingsText::say(OptionId id, std::string_view text) {
    constexpr OptionId codec_settings[] = {OptionId::codec, OptionId::level_codecs,
                                           OptionId::schedule};
    if (std::find(std::begin(codec_settings), std::end(codec_settings), id) !=
        std::end(codec_settings))
        for (const OptionId other : codec_settings) set(other, info_of(other).default_value);
    set(id, text);
}

Result<Settings> Settings::parse(const SettingsText& text) {
    Settings out;
    Reader reader(text);
    reader.read(OptionId::codec, out.codec, codec_from_name);
    reader.read(OptionId::level_codecs, out.level_codecs, parse_level_codecs);
    reader.read(OptionId::down_codec, out.down_codec, parse_down_codec);
    reader.read(OptionId::min_bytes, out.min_bytes, parse_bytes);
    reader.read(OptionId::tree_min_bytes, out.tree_min_bytes, parse_bytes);
    reader.read(OptionId::exchange, out.exchange,
                [](std::string_view t) { return level_exchanges_from(without_blanks(t)); });
    reader.read(OptionId::chunk_bytes, out.chunk_bytes, parse_chunk_bytes);
    reader.read(OptionId::chunks_in_flight, out.chunks_in_flight, parse_chunks_in_flight);
    reader.read(OptionId::schedule, out.schedule, CodecSchedule::parse);
    reader.read(OptionId::feedback, out.feedback, parse_switch);
    reader.read(OptionId::check, out.check, parse_check);
    if (!reader.status().ok()) return reader.status();
    return out;
}

CodecId Settings::codec_of(int level, std::int64_t step) const {
    if (!schedule.empty()) return schedule.codec_at(step);
    if (level_codecs.empty()) return codec;
    return level_codecs[std::min(static_cast<std::size_t>(level), level_codecs.size() - 1)];
}

bool Settings::compresses(ElementType type, std::int64_t step) const {
    const auto is_lossy = [type](CodecId id) {
        return id != CodecId::exact && codec_supports(id, type);
    };
    if (!schedule.empty()) return is_lossy(schedule.codec_at(step));
    if (level_codecs.empty()) return is_lossy(codec);
    return std::any_of(level_codecs.begin(), level_codecs.end(), is_lossy);
}

bool Settings::ever_compresses(ElementType type) const {
    if (schedule.empty()) return compresses(type, 0);
    const auto compressing = [&](const auto& phase) { return compresses(type, phase.first_step); };
    return std::any_of(schedule.phases().begin(), schedule.phases().end(), compressing);
}

bool Settings::ever_lossy() const {
    return ever_compresses(ElementType::f32);  // every codec is defined for it
}

}  // namespace gradcoll
