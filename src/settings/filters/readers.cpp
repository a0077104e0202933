// settings/filters/readers.cpp - which calls are compressed.
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {

SettingRow min_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.min_bytes, parse_bytes(text));
    }};
}

SettingRow max_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.max_bytes, parse_bytes_or("none", text));
    }};
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
