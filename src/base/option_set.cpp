#include "base/option_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/option_parts.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view test_prefix = "GC_TEST_";

/// These names are of the garbage collector of Boehm and others, which many programs contain, and
/// which has the same prefix. Source: its doc/README.environment. GC_TRACE, which is there, too, is
/// ours.
constexpr std::string_view of_garbage_collector[] = {"GC_ABORT_ON_LEAK",
                                                     "GC_ALL_INTERIOR_POINTERS",
                                                     "GC_BACKTRACES",
                                                     "GC_COLLECT_AT_MALLOC",
                                                     "GC_DISABLE_INCREMENTAL",
                                                     "GC_DONT_GC",
                                                     "GC_DUMP_REGULARLY",
                                                     "GC_ENABLE_INCREMENTAL",
                                                     "GC_FINDLEAK_DELAY_FREE",
                                                     "GC_FIND_LEAK",
                                                     "GC_FORCE_UNMAP_ON_GCOLLECT",
                                                     "GC_FREE_SPACE_DIVISOR",
                                                     "GC_FULL_FREQUENCY",
                                                     "GC_IGNORE_GCJ_INFO",
                                                     "GC_INITIAL_HEAP_SIZE",
                                                     "GC_LARGE_ALLOC_WARN_INTERVAL",
                                                     "GC_LOG_FILE",
                                                     "GC_LOOP_ON_ABORT",
                                                     "GC_MARKERS",
                                                     "GC_MAXIMUM_HEAP_SIZE",
                                                     "GC_NO_BLACKLIST_WARNING",
                                                     "GC_NPROCS",
                                                     "GC_ONLY_LOG_TO_FILE",
                                                     "GC_PAUSE_TIME_TARGET",
                                                     "GC_PRINT_ADDRESS_MAP",
                                                     "GC_PRINT_BACK_HEIGHT",
                                                     "GC_PRINT_STATS",
                                                     "GC_PRINT_VERBOSE_STATS",
                                                     "GC_RETRY_SIGNALS",
                                                     "GC_UNMAP_THRESHOLD",
                                                     "GC_USE_ENTIRE_HEAP",
                                                     "GC_USE_GETWRITEWATCH"};

bool is_for_others(std::string_view name) {
    return name.starts_with(test_prefix) ||
           std::ranges::find(of_garbage_collector, name) != std::end(of_garbage_collector);
}

}  // namespace

std::string_view name_of(OptionSource source) {
    constexpr std::string_view names[] = {"default", "config file", "environment", "info key",
                                          "argument"};
    return names[static_cast<std::size_t>(source)];
}

OptionSet::OptionSet(std::span<const std::string_view> environment)
    : OptionSet(environment, ConfigFile{}) {}

OptionSet::OptionSet(std::span<const std::string_view> environment, const ConfigFile& file) {
    for (const std::string_view entry : environment) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(option_prefix) || equals == std::string_view::npos) continue;
        take_variable(entry.substr(0, equals), trimmed(entry.substr(equals + 1)));
    }
    for (const ConfigEntry& entry : file.entries)
        if (!entry.text.empty())
            file_[index(entry.option)] = {entry.text, OptionSource::config_file,
                                          fmt::format("{}:{}", file.name, entry.line)};
    for (const std::string& complaint : file.complaints) complaints_.push_back({complaint, {}});
    if (file.may_limit_loss) add_doubt("what cannot be read", file.name);
    settle();
}

OptionSet OptionSet::without_values(std::string_view reason) const {
    OptionSet defaults(std::span<const std::string_view>{});
    for (const OptionValue& value : values_)
        if (value.source != OptionSource::default_value) {
            defaults.complaints_.push_back(
                {fmt::format("settings of the environment are ignored: {}", reason), {}});
            break;
        }
    return defaults;
}

void OptionSet::take_variable(std::string_view name, std::string_view text) {
    if (is_for_others(name)) return;
    const OptionInfo* row = find_option(name);
    if (row == nullptr) {
        const OptionInfo* const meant = meant_option(name.substr(option_prefix.size()));
        complaints_.push_back(
            {fmt::format("the environment variable {} is not a setting and is ignored{}",
                         printable(name), suggestion_of(meant)),
             {}});
        if (meant != nullptr && meant->limits_loss) add_doubt(printable(name), "environment");
        return;
    }
    if (text.empty() || environment_says(row->id)) return;
    const auto parts = parts_in(row->id, text);
    if (!parts) {
        complaints_.push_back({fmt::format("environment: {}={}: {}; ignored", name, printable(text),
                                           parts.status().message()),
                               row->id});
        if (row->limits_loss) add_doubt(name, "environment");
        return;
    }
    for (const PartText& part : *parts)
        if (!part.text.empty())
            environment_[index(part.id)] = {part.text, OptionSource::environment, "environment"};
}

/// Returns whether a variable has said something of the setting or of its parts.
bool OptionSet::environment_says(OptionId whole) const {
    const auto table = option_table();
    return std::any_of(table.begin(), table.end(), [&](const OptionInfo& row) {
        return row.whole == whole && environment_[index(row.id)].has_value();
    });
}

void OptionSet::add_doubt(std::string_view name, std::string_view place) {
    doubt_ += fmt::format("{}{} ({})", doubt_.empty() ? "" : ", ", name, place);
}

void OptionSet::settle() {
    for (const OptionInfo& row : option_table()) {
        const std::size_t i = index(row.id);
        if (environment_[i])
            values_[i] = *environment_[i];
        else if (file_[i])
            values_[i] = *file_[i];
        else
            values_[i] = {std::string(row.default_value), OptionSource::default_value, "default"};
    }
}

OptionValue OptionSet::with_parts(OptionId whole) const {
    OptionValue all{joined_parts(whole, [this](OptionId id) { return std::string_view(text(id)); }),
                    OptionSource::default_value, ""};
    for (const OptionInfo& row : option_table()) {
        const OptionValue& value = values_[index(row.id)];
        if (row.whole != whole || value.source == OptionSource::default_value) continue;
        all.source = std::max(all.source, value.source);
        if (all.place.find(value.place) == std::string::npos)
            all.place += fmt::format("{}{}", all.place.empty() ? "" : ", ", value.place);
    }
    if (all.place.empty()) all.place = "default";
    return all;
}

void OptionSet::tell_what_does_nothing() {
    for (const OptionInfo& row : option_table()) {
        const OptionInfo* const other = find_option(row.only_with);
        const OptionValue& value = values_[index(row.id)];
        if (other == nullptr || value.source == OptionSource::default_value) continue;
        if (value.text == row.default_value || text(other->id) != other->default_value) continue;
        complaints_.push_back(
            {fmt::format("{}: {}={} has no effect while {} is {}", value.place, row.variable,
                         printable(value.text), other->variable,
                         other->default_value.empty() ? "nothing" : other->default_value),
             row.id});
    }
}

void OptionSet::leave_out_what_fails(const Check& check) {
    struct LeftOut {
        OptionId id;
        OptionValue value;
        std::string why;
    };
    std::vector<LeftOut> left_out;
    for (const OptionInfo& row : option_table())
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
        const OptionInfo& row = info_of(out.id);
        const bool is_replaced = out.value.source == OptionSource::config_file &&
                                 environment_[index(out.id)].has_value();
        if (row.limits_loss && !is_replaced) add_doubt(row.variable, out.value.place);
        const OptionValue& holds = values_[index(out.id)];
        complaints_.push_back(
            {fmt::format("{}: {}; ignored, {} ({}) holds", out.value.place, out.why,
                         holds.text.empty() ? "nothing" : printable(holds.text), holds.place),
             out.id});
    }
}

}  // namespace gradcoll
