// topology/json_value.hpp - reads JSON texts from outside, shows their values in messages, and
// writes texts as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// This is the most that texts nest that are not trees.
inline constexpr int most_json_depth = 64;

/// Checks that brackets and braces nest at most this deep: values are copied, printed and read by
/// recursion, so a deeper text could exhaust the stack. Errors: invalid_argument.
Status check_json_depth(std::string_view text, int most);

/// Parses a text. Errors: invalid_argument if it is not JSON, or deeper than most_json_depth.
Result<nlohmann::json> json_in(std::string_view text);

/// Returns the reason alone, with line and column, from the parser's text.
std::string reason_of(const nlohmann::json::exception& error);
/// Returns the text as a string of JSON; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// Returns the value as it is in the text, shortened, for a message.
inline std::string shown(const nlohmann::json& value) {
    if (value.is_structured()) return value.is_array() ? "an array" : "an object";
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return printable(text.size() > 40 ? text.substr(0, 40) + "..." : text);
}

}  // namespace gradcoll
