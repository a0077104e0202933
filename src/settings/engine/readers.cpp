// settings/engine/readers.cpp - engines.
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

constexpr int most_threads = 64;
constexpr std::int64_t most_stall_seconds = 1'000'000;

Result<std::optional<int>> parse_threads(std::string_view text) {
    if (text == "auto") return std::optional<int>();
    const auto threads = parse_integer(text, 0, most_threads);
    if (!threads) return threads.status();
    return std::optional<int>(static_cast<int>(*threads));
}

Result<EngineCoordinator> parse_coordinator(std::string_view text) {
    if (text == "on") return EngineCoordinator::on;
    if (text == "flat") return EngineCoordinator::flat;
    if (text == "hosts") return EngineCoordinator::hosts;
    if (text == "off") return EngineCoordinator::off;
    return Status(Code::invalid_argument,
                  fmt::format("'{}' is not allowed: {}", printable(text),
                              info_of(OptionId::engine_coordinator).allowed));
}

Result<std::optional<EngineStrategy>> parse_strategy(std::string_view text) {
    const auto strategy = strategy_named(text);
    if (strategy || text == "auto") return strategy;
    return Status(Code::invalid_argument, fmt::format("'{}' is not allowed: {}", printable(text),
                                                      info_of(OptionId::engine_strategy).allowed));
}

Status keep_text(std::string_view text, std::string& out) {
    out = text;
    return {};
}

}  // namespace

SettingRow engine_strategy_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.engine.strategy, parse_strategy(text)); },
            .shapes_calls = false};
}

SettingRow engine_plan_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return keep_text(text, out.engine.plan_file); },
            .shapes_calls = false};
}

SettingRow engine_plan_to_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return keep_text(text, out.engine.plan_to); },
            .shapes_calls = false};
}

SettingRow engine_threads_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.engine.threads, parse_threads(text)); },
            .shapes_calls = false};
}

SettingRow engine_bytes_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.engine.most_bytes, parse_bytes(text)); },
            .shapes_calls = false};
}

SettingRow engine_pack_bytes_setting_row() {
    return {.read =
                [](std::string_view text, Settings& out) {
                    return take(out.engine.pack_bytes, parse_bytes_or("auto", text));
                },
            .shapes_calls = false};
}

SettingRow engine_coordinator_setting_row() {
    return {
        .read = [](std::string_view text,
                   Settings& out) { return take(out.engine.coordinator, parse_coordinator(text)); },
        .shapes_calls = false};
}

SettingRow engine_replan_setting_row() {
    return {.read = [](std::string_view text,
                       Settings& out) { return take(out.engine.replan, parse_switch(text)); },
            .shapes_calls = false};
}

SettingRow engine_stall_seconds_setting_row() {
    return {.read =
                [](std::string_view text, Settings& out) {
                    return take(out.engine.stall_seconds,
                                parse_integer(text, 1, most_stall_seconds));
                },
            .shapes_calls = false};
}

}  // namespace gradcoll
