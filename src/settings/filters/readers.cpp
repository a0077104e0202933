// settings/filters/readers.cpp - which calls are compressed.
#include <fmt/format.h>

#include "base/text.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// Reads "64K" or "64K-1M".
Status read_compress_bytes(std::string_view text, Settings& out) {
    const std::size_t dash = text.find('-');
    GRADCOLL_TRY(take(out.min_bytes, parse_bytes(trimmed(text.substr(0, dash)))));
    out.max_bytes.reset();
    if (dash == std::string_view::npos) return {};
    const std::uint64_t most = GRADCOLL_VALUE(parse_bytes(trimmed(text.substr(dash + 1))));
    if (most < out.min_bytes)
        return {Code::invalid_argument,
                fmt::format("'{}' ends before it begins; allowed: {}", printable(text),
                            info_of(OptionId::compress_bytes).allowed)};
    out.max_bytes = most;
    return {};
}

}  // namespace

SettingRow compress_bytes_setting_row() {
    return {.read = read_compress_bytes};
}

SettingRow compress_comms_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.compress_comms, NameFilter::parse(text));
    }};
}

SettingRow compress_calls_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.compress_calls, CallFilter::parse(text));
    }};
}

}  // namespace gradcoll
