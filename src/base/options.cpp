#include "base/options.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <set>

namespace gradcoll {
namespace {

OptionSet read_process() {
    std::vector<std::string_view> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    OptionSet set(entries);
    if (!is_plain_process())
        return set.without_values(
            "the process has rights that whoever started it may lack (setuid, setgid, "
            "capabilities)");
    const std::string& path = set.text(OptionId::config_file);
    if (!path.empty()) set = OptionSet(entries, read_config_file(path));
    set.leave_out_what_fails(check_process_option);
    return set;
}

}  // namespace

bool is_plain_process() {
    return ::getauxval(AT_SECURE) == 0;
}

Status check_process_option(OptionId id, std::string_view text) {
    const OptionInfo& row = info_of(id);
    return row.check != nullptr ? row.check(row, text) : Status();
}

/// Returns the set, which is never destroyed: calls may still arrive while the process leaves.
const OptionSet& options_of_process() {
    static const OptionSet& set = *new OptionSet(read_process());
    return set;
}

const std::string& option_text(OptionId id) {
    return options_of_process().text(id);
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
    const char* value = secure_getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace gradcoll
