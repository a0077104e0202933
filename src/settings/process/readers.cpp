// settings/process/readers.cpp - checks of calls, and what the interposer may serve. (All else
// here is for the process alone.)
#include "settings/intercept_set.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

Result<CheckLevel> parse_check(std::string_view word) {
    constexpr std::string_view names[] = {"off", "local", "collective"};
    return one_of<CheckLevel>(word, names, info_of(OptionId::check).allowed);
}

}  // namespace

SettingRow check_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.check, parse_check(text)); },
            .shapes_calls = false};
}

SettingRow intercept_setting_row() {
    return {.check = [](std::string_view text) { return InterceptSet::parse(text).status(); }};
}

}  // namespace gradcoll
