#include "base/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/text.hpp"

namespace gradcoll {
namespace {

Status check_number(const OptionInfo& row, std::string_view text, std::int64_t min,
                    std::int64_t max) {
    return parse_integer(text, min, max).ok() ? Status()
                                              : bad_value(row.variable, text, row.allowed);
}

/// For rows that list words as what is allowed; `or_switch`: other spellings of on and off, too.
Status check_word(const OptionInfo& row, std::string_view text, bool or_switch) {
    const auto words = split_at_commas(row.allowed);
    const bool listed = std::find(words.begin(), words.end(), text) != words.end();
    return listed || (or_switch && parse_switch(text).ok())
               ? Status()
               : bad_value(row.variable, text, row.allowed);
}

/// A word or a path. Without the slash a misspelt word would be looked for among the system's
/// libraries.
Status check_device(const OptionInfo& row, std::string_view text) {
    const bool is_path = text.find('/') != std::string_view::npos;
    return is_path || text == "auto" || text == "off" ? Status()
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

Status check_process_option(OptionId id, std::string_view text) {
    const OptionInfo& row = info_of(id);
    switch (id) {
        case OptionId::log:
        case OptionId::cpu:
        case OptionId::report:
            return check_word(row, text, false);
        case OptionId::device_mpi:
        case OptionId::yield:
        case OptionId::enable:
        case OptionId::dump_config:
            return check_word(row, text, true);
        case OptionId::device:
            return check_device(row, text);
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

std::string foreign_variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace gradcoll
