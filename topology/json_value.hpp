// topology/json_value.hpp - JSON texts from outside, and their values for messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// Of texts that are no trees.
inline constexpr int most_json_depth = 64;

/// Whether brackets and braces stand at most so deep within each other: values are copied, printed
/// and read by recursion, so that a deeper text could use the stack up. Errors: invalid_argument.
Status check_json_depth(std::string_view text, int most);

/// Errors: invalid_argument if it is no JSON, or deeper than most_json_depth.
Result<nlohmann::json> json_in(std::string_view text);

/// As it stands in the text, shortened, fit for a message.
inline std::string shown(const nlohmann::json& value) {
    if (value.is_structured()) return value.is_array() ? "an array" : "an object";
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return printable(text.size() > 40 ? text.substr(0, 40) + "..." : text);
}

}  // namespace gradcoll
