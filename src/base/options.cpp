// The table of settings, their layers, and the one look at the environment.
#include "base/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <set>

#include "base/config_file.hpp"
#include "base/cpu.hpp"
#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view prefix = "GC_";
constexpr std::string_view test_prefix = "GC_TEST_";

constexpr OptionInfo table[] = {
#define GRADCOLL_OPTION(id, ...) {OptionId::id, __VA_ARGS__},
#include "base/options.def"
#undef GRADCOLL_OPTION
};
static_assert(std::size(table) == static_cast<std::size_t>(OptionId::count));

const OptionInfo* find_variable(std::string_view name) {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const auto& row) { return row.variable == name; });
    return found == std::end(table) ? nullptr : found;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

/// ", did you mean ...". Compared without the prefix, which would make every short name look near.
std::string suggestion_for(std::string_view bare_name) {
    std::vector<std::string_view> known;
    for (const OptionInfo& row : table) known.push_back(row.variable.substr(prefix.size()));
    const auto nearest = nearest_word(bare_name, known);
    return nearest ? fmt::format("; did you mean {}{}?", prefix, *nearest) : std::string();
}

Status check_number(const OptionInfo& row, std::string_view text, std::int64_t min,
                    std::int64_t max) {
    return parse_integer(text, min, max).ok() ? Status()
                                              : bad_value(row.variable, text, row.allowed);
}

Status check_word(const OptionInfo& row, std::string_view text,
                  std::initializer_list<std::string_view> words, bool or_switch) {
    const bool known = std::find(words.begin(), words.end(), text) != words.end();
    return known || (or_switch && parse_switch(text).ok())
               ? Status()
               : bad_value(row.variable, text, row.allowed);
}

OptionSet read_process() {
    std::vector<std::string_view> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    OptionSet set(entries);
    const std::string& path = set.text(OptionId::config_file);
    if (!path.empty()) set = OptionSet(entries, read_config_file(path));
    set.leave_out_what_fails(check_process_option);
    return set;
}

}  // namespace

std::span<const OptionInfo> option_table() {
    return table;
}

const OptionInfo& info_of(OptionId id) {
    return table[static_cast<std::size_t>(id)];
}

std::string_view name_of(OptionSource source) {
    constexpr std::string_view names[] = {"default", "config file", "environment", "info key",
                                          "argument"};
    return names[static_cast<std::size_t>(source)];
}

Result<OptionId> option_of_name(std::string_view name) {
    constexpr std::string_view small_prefix = "gc_";
    std::string wanted = lower(name);
    if (!wanted.starts_with(small_prefix)) wanted.insert(0, small_prefix);
    for (const OptionInfo& row : table)
        if (lower(row.variable) == wanted) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("{} is not a setting and is ignored{}", printable(name),
                              suggestion_for(wanted.substr(small_prefix.size()))));
}

OptionSet::OptionSet(std::span<const std::string_view> environment)
    : OptionSet(environment, ConfigFile{}) {}

OptionSet::OptionSet(std::span<const std::string_view> environment, const ConfigFile& file) {
    for (const std::string_view entry : environment) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
        take_variable(entry.substr(0, equals), trimmed(entry.substr(equals + 1)));
    }
    for (const ConfigEntry& entry : file.entries)
        if (!entry.text.empty())
            file_[index(entry.option)] = {entry.text, OptionSource::config_file,
                                          fmt::format("{}:{}", file.name, entry.line)};
    for (const std::string& complaint : file.complaints) complaints_.push_back({complaint, {}});
    settle();
}

void OptionSet::take_variable(std::string_view name, std::string_view text) {
    if (name.starts_with(test_prefix)) return;
    const OptionInfo* row = find_variable(name);
    if (row == nullptr) {
        complaints_.push_back(
            {fmt::format("the environment variable {} is not a setting and is ignored{}",
                         printable(name), suggestion_for(name.substr(prefix.size()))),
             {}});
        return;
    }
    std::optional<OptionValue>& value = environment_[index(row->id)];
    if (text.empty() || value) return;
    value = {std::string(text), OptionSource::environment, "environment"};
}

void OptionSet::settle() {
    const bool variables_say_the_codec =
        std::any_of(std::begin(codec_options), std::end(codec_options),
                    [this](OptionId id) { return environment_[index(id)].has_value(); });
    for (const OptionInfo& row : table) {
        const std::size_t i = index(row.id);
        const bool put_out =
            variables_say_the_codec && std::find(std::begin(codec_options), std::end(codec_options),
                                                 row.id) != std::end(codec_options);
        if (environment_[i])
            values_[i] = *environment_[i];
        else if (file_[i] && !put_out)
            values_[i] = *file_[i];
        else
            values_[i] = {std::string(row.default_value), OptionSource::default_value, "default"};
    }
}

void OptionSet::leave_out_what_fails(Check check) {
    struct LeftOut {
        OptionId id;
        OptionValue value;
        std::string why;
    };
    std::vector<LeftOut> left_out;
    for (const OptionInfo& row : table)
        for (Layer* layer : {&environment_, &file_}) {
            std::optional<OptionValue>& value = (*layer)[index(row.id)];
            if (!value) continue;
            const Status status = check(row.id, value->text);
            if (status.ok()) continue;
            left_out.push_back({row.id, std::move(*value), status.message()});
            value.reset();
        }
    settle();
    for (const LeftOut& out : left_out) {
        const OptionValue& holds = values_[index(out.id)];
        complaints_.push_back(
            {fmt::format("{}: {}; ignored, {} ({}) holds", out.value.place, out.why,
                         holds.text.empty() ? "nothing" : printable(holds.text), holds.place),
             out.id});
    }
}

Status check_process_option(OptionId id, std::string_view text) {
    const OptionInfo& row = info_of(id);
    switch (id) {
        case OptionId::log:
            return parse_log_level(text).status();
        case OptionId::cpu:
            return parse_instruction_set(text).status();
        case OptionId::device_mpi:
        case OptionId::yield:
            return check_word(row, text, {"auto"}, true);
        case OptionId::device:
            // Without the slash a misspelt word would be looked for among the system's libraries.
            return text.find('/') != std::string_view::npos
                       ? Status()
                       : check_word(row, text, {"auto", "off"}, false);
        case OptionId::enable:
        case OptionId::dump_config:
            return check_word(row, text, {}, true);
        case OptionId::report:
            return check_word(row, text, {"off", "text", "json"}, false);
        case OptionId::report_error:
            return check_number(row, text, 0, 1'000'000);
        case OptionId::trace_spans:
            return check_number(row, text, 1, 100'000'000);
        default:
            return {};
    }
}

/// Never destroyed: calls may still arrive while the process leaves.
const OptionSet& options_of_process() {
    static const OptionSet& set = *new OptionSet(read_process());
    return set;
}

const std::string& option_text(OptionId id) {
    return options_of_process().text(id);
}

OptionSource option_source(OptionId id) {
    return options_of_process().source(id);
}

std::vector<std::string> unlogged_complaints(const OptionSet& set, std::optional<OptionId> only) {
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string>& logged = *new std::set<std::string>;
    const std::scoped_lock lock(mutex);
    std::vector<std::string> result;
    for (const OptionComplaint& complaint : set.complaints())
        if ((!only || complaint.option == only) && logged.insert(complaint.text).second)
            result.push_back(complaint.text);
    return result;
}

void warn_about_options(const OptionSet& set, std::optional<OptionId> only) {
    for (const std::string& complaint : unlogged_complaints(set, only))
        log(LogLevel::warn, "{}", complaint);
}

std::string foreign_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace gradcoll
