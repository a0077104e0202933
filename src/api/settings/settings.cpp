#include "api/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "api/settings/intercept_set.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collectives/build/builder.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {
namespace {

template <class T>
Result<T> one_of(std::string_view word, std::span<const std::string_view> names,
                 std::string_view allowed) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == word) return static_cast<T>(i);
    return Status(Code::invalid_argument,
                  fmt::format("'{}' is not allowed: {}", printable(word), allowed));
}

Result<CheckLevel> parse_check(std::string_view word) {
    constexpr std::string_view names[] = {"off", "local", "collective"};
    return one_of<CheckLevel>(word, names, info_of(OptionId::check).allowed);
}

Result<CompressIf> parse_compress_if(std::string_view word) {
    constexpr std::string_view names[] = {"always", "pays"};
    return one_of<CompressIf>(word, names, info_of(OptionId::compress_if).allowed);
}

/// "exact, 2:4" is meant as "exact,2:4".
std::string without_blanks(std::string_view text) {
    std::string out(text);
    std::erase(out, ' ');
    return out;
}

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

/// `word` or bytes.
Result<std::optional<std::uint64_t>> parse_bytes_or(std::string_view word, std::string_view text) {
    if (text == word) return std::optional<std::uint64_t>();
    const auto bytes = parse_bytes(text);
    if (!bytes) return bytes.status();
    return std::optional<std::uint64_t>(*bytes);
}

/// The least holds a page for each slot of the blocks (runtime/one_host).
Result<std::uint64_t> parse_shm_bytes(std::string_view text) {
    constexpr std::uint64_t least = 128 << 10;
    constexpr std::uint64_t most = 1 << 30;
    auto bytes = parse_bytes(text);
    if (bytes && *bytes != 0 && (*bytes < least || *bytes > most))
        return Status(
            Code::invalid_argument,
            fmt::format("\"{}\" is not allowed; allowed are 0, and 128K to 1G", printable(text)));
    return bytes;
}

/// 0: none.
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

Result<int> parse_chunks_in_flight(std::string_view text) {
    const auto value = parse_integer(text, 1, 16);
    if (!value) return value.status();
    return static_cast<int>(*value);
}

/// Settings that are understood elsewhere are left alone.
Status read_setting(OptionId id, std::string_view text, Settings& out) {
    switch (id) {
        case OptionId::codec:
            return take(out.codec, codec_from_name(text));
        case OptionId::level_codecs:
            return take(out.level_codecs, parse_level_codecs(text));
        case OptionId::down_codec:
            return take(out.down_codec, parse_down_codec(text));
        case OptionId::compress_if:
            return take(out.compress_if, parse_compress_if(text));
        case OptionId::min_bytes:
            return take(out.min_bytes, parse_bytes(text));
        case OptionId::max_bytes:
            return take(out.max_bytes, parse_bytes_or("none", text));
        case OptionId::compress_comms:
            return take(out.compress_comms, NameFilter::parse(text));
        case OptionId::compress_calls:
            return take(out.compress_calls, CallFilter::parse(text));
        case OptionId::tree_min_bytes:
            return take(out.tree_min_bytes, parse_bytes(text));
        case OptionId::exchange:
            return take(out.exchange, level_exchanges_from(without_blanks(text)));
        case OptionId::builder:
            return take(out.builder, builder_from_name(text));
        case OptionId::chunk_bytes:
            return take(out.chunk_bytes, parse_bytes_or("auto", text));
        case OptionId::chunks_in_flight:
            return take(out.chunks_in_flight, parse_chunks_in_flight(text));
        case OptionId::shm_bytes:
            return take(out.shm_bytes, parse_shm_bytes(text));
        case OptionId::transports:
            return take(out.transports, TransportChoice::parse(text));
        case OptionId::schedule:
            return take(out.schedule, CodecSchedule::parse(text));
        case OptionId::step_every:
            return take(out.calls_per_step, parse_step_every(text));
        case OptionId::feedback:
            return take(out.feedback, parse_switch(text));
        case OptionId::check:
            return take(out.check, parse_check(text));
        default:
            return {};
    }
}

}  // namespace

SettingsText SettingsText::defaults() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, row.default_value);
    return text;
}

SettingsText SettingsText::from_environment() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, checked_options().text(row.id));
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
                  fmt::format("'{}' is not a setting{}", printable(info_key),
                              nearest ? fmt::format("; did you mean {}?", *nearest)
                                      : std::string("; see docs/settings.md for all of them")));
}

void SettingsText::say(OptionId id, std::string_view text) {
    if (std::find(std::begin(codec_options), std::end(codec_options), id) !=
        std::end(codec_options))
        for (const OptionId other : codec_options) set(other, info_of(other).default_value);
    set(id, text);
}

Status check_setting(OptionId id, std::string_view text) {
    const std::string_view word = trimmed(text);
    if (id == OptionId::topology) return check_written(std::string(word));
    if (id == OptionId::intercept) return InterceptSet::parse(word).status();
    GRADCOLL_TRY(check_process_option(id, word));
    Settings scratch;
    return read_setting(id, word, scratch);
}

const OptionSet& checked_options() {
    static const OptionSet& settings = [&]() -> const OptionSet& {
        auto* set = new OptionSet(options_of_process());
        set->leave_out_what_fails([](OptionId id, std::string_view text) -> Status {
            Status status = check_setting(id, text);
            if (status.ok()) return status;
            return {status.code(), fmt::format("{}={}: {}", info_of(id).variable, printable(text),
                                               status.message())};
        });
        return *set;
    }();
    return settings;
}

void warn_about_settings() {
    static std::once_flag once;
    std::call_once(once, [] { warn_about_options(checked_options()); });
}

Result<Settings> Settings::parse(const SettingsText& text) {
    Settings out;
    for (const OptionInfo& row : option_table())
        if (const Status status = read_setting(row.id, trimmed(text[row.id]), out); !status.ok())
            return Status(
                Code::invalid_argument,
                fmt::format("setting {}: {}", row.info_key.empty() ? row.variable : row.info_key,
                            status.message()));
    return out;
}

const Settings& process_settings() {
    static const Settings settings = [] {
        auto parsed = Settings::parse(SettingsText::from_environment());
        if (!parsed) parsed = Settings::parse(SettingsText::defaults());
        return parsed ? std::move(parsed).value() : Settings();
    }();
    return settings;
}

bool Settings::compresses(ElementType type, std::int64_t step) const {
    const auto is_lossy = [type](CodecId id) {
        return id != CodecId::exact && codec_supports(id, type);
    };
    if (!schedule.empty()) return is_lossy(schedule.codec_at(step));
    if (level_codecs.empty()) return is_lossy(codec);
    const std::vector<CodecId>& all = level_codecs.named();  // a warm call copies nothing
    return std::any_of(all.begin(), all.end(), is_lossy);
}

bool Settings::ever_compresses(ElementType type) const {
    if (schedule.empty()) return compresses(type, 0);
    const auto compressing = [&](const auto& phase) { return compresses(type, phase.first_step); };
    return std::any_of(schedule.phases().begin(), schedule.phases().end(), compressing);
}

bool Settings::ever_lossy() const {
    return ever_compresses(ElementType::f32);  // every codec is defined for it
}

std::uint64_t Settings::least_tree_bytes() const {
    return ever_lossy() ? std::min(tree_min_bytes, min_bytes) : tree_min_bytes;
}

}  // namespace gradcoll
