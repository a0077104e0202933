#include "settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/log.hpp"
#include "base/option_parts.hpp"
#include "base/text.hpp"
#include "collectives/choose/policy.hpp"
#include "settings/setting_table.hpp"

namespace gradcoll {

SettingsText SettingsText::defaults() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, row.default_value);
    return text;
}

namespace {

SettingsText texts_of(const OptionSet& options) {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, options.text(row.id));
    if (!options.doubt().empty()) text.add_doubt(options.doubt());
    return text;
}

/// Returns whether it is a part that no communicator has for itself.
bool is_of_process(const OptionInfo& row) {
    return is_part(row) && row.info_key.empty();
}

/// Returns whether the option is one of those that can be right one by one and wrong together.
bool says_codec(OptionId id) {
    return id == OptionId::codec || id == OptionId::down_codec || id == OptionId::tolerance;
}

}  // namespace

SettingsText SettingsText::from_environment() {
    return texts_of(checked_options());
}

Result<OptionId> option_of_key(std::string_view info_key) {
    for (const OptionInfo& row : option_table())
        if (!is_part(row) && !row.info_key.empty() && row.info_key == info_key) return row.id;
    const OptionInfo* const meant = meant_option_of_name(info_key);
    return Status(Code::invalid_argument,
                  fmt::format("'{}' is not a setting{}", printable(info_key),
                              meant != nullptr && !meant->info_key.empty()
                                  ? lower_case(suggestion_of(meant))
                                  : std::string("; see docs/settings.md for all of them")));
}

Status SettingsText::say(OptionId whole, std::string_view text) {
    const auto parts = GRADCOLL_VALUE(parts_in(whole, text));
    for (const PartText& part : parts)
        if (const OptionInfo& row = info_of(part.id); is_of_process(row))
            return {Code::invalid_argument,
                    fmt::format("'{}=' holds for the process: only the environment and the file "
                                "of settings can say it",
                                row.word)};
    for (const PartText& part : parts) set(part.id, part.text);
    return {};
}

std::string SettingsText::said(OptionId whole) const {
    return joined_parts(whole, [this](OptionId id) -> std::string_view {
        const OptionInfo& row = info_of(id);
        return is_of_process(row) ? row.default_value : (*this)[id];
    });
}

void SettingsText::add_doubt(std::string_view what) {
    doubt_ += fmt::format("{}{}", doubt_.empty() ? "" : ", ", what);
}

Status check_setting(OptionId id, std::string_view text) {
    const std::string_view word = trimmed(text);
    GRADCOLL_TRY(check_process_option(id, word));
    const SettingRow& row = setting_of(id);
    if (row.check != nullptr) return row.check(word);
    Settings scratch;
    return row.read != nullptr ? row.read(word, scratch) : Status();
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
        const Status together = Settings::parse(texts_of(*set)).status();
        set->leave_out_what_fails([&](OptionId id, std::string_view) -> Status {
            return together.ok() || !says_codec(id) ? Status() : together;
        });
        set->tell_what_does_nothing();
        return *set;
    }();
    return settings;
}

void warn_about_settings() {
    static std::once_flag once;
    std::call_once(once, [] { warn_about_options(checked_options()); });
}

namespace {

/// Checks codecs against the tolerance: with one, every lossy codec must be able to keep it;
/// without one, codecs that need a tolerance must name their own.
Status check_tolerances(const Settings& settings) {
    for (const CodecId codec : settings.named_codecs()) {
        const bool waits = waits_for_tolerance(codec);
        if (settings.tolerance && codec != CodecId::exact && !waits)
            return {Code::invalid_argument,
                    fmt::format("codec \"{}\" cannot be told to keep gc_tolerance; allowed with "
                                "it: exact, bound, int, int8, int4, int16, or no codec",
                                name_of(codec))};
        if (!settings.tolerance && waits)
            return {Code::invalid_argument,
                    fmt::format("codec \"{0}\" needs a tolerance; allowed: {1}/abs=NUMBER, or {1} "
                                "with gc_tolerance",
                                name_of(codec), name_of(plain(codec)))};
    }
    return {};
}

/// Checks that nothing is to be lossy where results are to be the same anywhere.
Status check_is_exact_anywhere(const Settings& settings) {
    if (!settings.anywhere || (!settings.tolerance && !settings.ever_lossy())) return {};
    return {Code::invalid_argument,
            "gc_reproducible=anywhere goes without gc_tolerance and with gc_codec=exact"};
}

/// Lets the codecs that can keep a tolerance wait for what each call says.
Status wait_for_tolerance(Settings& settings) {
    for (const CodecId codec : settings.named_codecs())
        if (const auto told = told_by_call(codec); !told.ok()) return told.status();
    const auto waiting = [](CodecId codec) { return told_by_call(codec).value(); };
    settings.codec = waiting(settings.codec);
    if (settings.down_codec) settings.down_codec = waiting(*settings.down_codec);
    settings.level_codecs = settings.level_codecs.replaced(waiting);
    settings.schedule = settings.schedule.replaced(waiting);
    return {};
}

/// Registers all codecs that planning may make of these (deal_out_loss()), so that there is room
/// for all of them, or none is used.
Status keep_codecs_with_shares(const Settings& settings) {
    for (const CodecId codec : settings.named_codecs())
        if (shortens_with_tolerance(codec) && loss_parts_of(codec) == 1)
            for (const int parts : loss_part_choices)
                GRADCOLL_TRY(with_loss_parts(codec, parts).status());
    return {};
}

}  // namespace

Result<Settings> Settings::parse(const SettingsText& text) {
    Settings out;
    for (const OptionInfo& row : option_table()) {
        const auto read = setting_of(row.id).read;
        if (read == nullptr) continue;
        if (const Status status = read(trimmed(text[row.id]), out); !status.ok())
            return Status(
                Code::invalid_argument,
                fmt::format("setting {}: {}", row.info_key.empty() ? row.variable : row.info_key,
                            status.message()));
    }
    GRADCOLL_TRY(check_is_exact_anywhere(out));
    if (out.tolerance) GRADCOLL_TRY(wait_for_tolerance(out));
    GRADCOLL_TRY(check_tolerances(out));
    if (out.tolerance) {
        out.feedback = false;  // the residual would be added to a later result
        if (!out.ever_lossy())
            out.level_codecs = HopCodecs::by_link(CodecId::exact, CodecId::bound);
        GRADCOLL_TRY(keep_codecs_with_shares(out));
    }
    return out;
}

void Settings::stay_exact() {
    codec = CodecId::exact;
    level_codecs = {};
    down_codec.reset();
    schedule = {};
    tolerance.reset();
    loss_in_doubt = true;
}

std::vector<CodecId> Settings::named_codecs() const {
    std::vector<CodecId> named = level_codecs.named();
    named.push_back(codec);
    if (down_codec) named.push_back(*down_codec);
    for (const CodecSchedule::Phase& phase : schedule.phases()) named.push_back(phase.codec);
    return named;
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

bool Settings::chooses_plan() const {
    const bool chooses_exchange =
        std::any_of(exchange.begin(), exchange.end(),
                    [](const ExchangeWish& wish) { return wish.has_value(); });
    return chooses_exchange || chunk_bytes || builder != Builder::flexreduce;
}

std::uint64_t Settings::least_tree_bytes() const {
    return ever_lossy() ? std::min(tree_min_bytes, min_bytes) : tree_min_bytes;
}

}  // namespace gradcoll
