#include "settings.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "ask.hpp"
#include "base/text.hpp"
#include "names.hpp"

namespace gc_info {
namespace {

/// plain_name() takes the prefix and the case away from pattern and names alike.
bool fits(const std::string& pattern, const GC_Setting& setting) {
    return fnmatch(pattern.c_str(), plain_name(setting.variable).c_str(), FNM_NOESCAPE) == 0;
}

[[noreturn]] void refuse(const std::string& pattern) {
    const auto all = settings();
    std::vector<std::string> names;
    for (const GC_Setting& row : all) names.push_back(plain_name(row.variable));
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto nearest = gradcoll::nearest_word(plain_name(pattern), known);
    std::string hint = "gc_info --settings lists all";
    for (std::size_t i = 0; nearest && i < all.size(); ++i)
        if (names[i] == *nearest) hint = fmt::format("did you mean {}?", all[i].variable);
    throw Refused(MPI_ERR_ARG, fmt::format("--settings {}: no setting is called so; {}",
                                           gradcoll::printable(pattern), hint));
}

std::string shown(const char* value) {
    return *value != '\0' ? value : "(nothing)";
}

std::string block(const GC_Setting& setting) {
    std::string text = fmt::format("{} = {}  ({})\n", setting.variable, shown(setting.value),
                                   source_text(setting));
    text += fmt::format("    {}\n", setting.help);
    text += fmt::format("    allowed: {}\n", setting.allowed);
    const bool has_key = *setting.info_key != '\0';
    return text + fmt::format("    default: {}; info key: {}\n", shown(setting.default_value),
                              has_key ? setting.info_key : "none, holds for the process");
}

}  // namespace

std::vector<GC_Setting> matching_settings(const std::string& pattern) {
    std::vector<GC_Setting> rows;
    for (const GC_Setting& row : settings())
        if (fits(plain_name(pattern), row)) rows.push_back(row);
    if (rows.empty()) refuse(pattern);
    return rows;
}

std::string source_text(const GC_Setting& setting) {
    if (*setting.place == '\0') return setting.source;
    return fmt::format("{} {}", setting.source, setting.place);
}

std::string settings_text(const std::vector<GC_Setting>& rows) {
    std::string text;
    for (const GC_Setting& row : rows) text += block(row);
    return text + ignored_text();
}

std::string ignored_text() {
    std::string text;
    for (const GC_List_entry& complaint : entries(GC_LIST_COMPLAINTS))
        text += fmt::format("note: {}\n", complaint.text);
    return text;
}

}  // namespace gc_info
