// topology/json_value.hpp - a value of a JSON text, for messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gradcoll {

/// As it stands in the text, shortened.
inline std::string shown(const nlohmann::json& value) {
    if (value.is_structured()) return value.is_array() ? "an array" : "an object";
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

}  // namespace gradcoll
