// settings/schedule/readers.cpp - what changes while a program trains.
#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

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

SettingRow schedule_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.schedule, CodecSchedule::parse(text));
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

}  // namespace gradcoll
