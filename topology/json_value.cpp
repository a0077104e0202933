#include "topology/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradcoll {
namespace {

/// Returns the depth of brackets and braces outside of quotes. For a text that is no JSON any
/// figure will do.
int depth_of(std::string_view text) {
    int depth = 0, deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string && c == '\\') ++i;
        if (c == '"') in_string = !in_string;
        if (in_string) continue;
        if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
        if (c == ']' || c == '}') --depth;
    }
    return deepest;
}

}  // namespace

Status check_json_depth(std::string_view text, int most) {
    const int depth = depth_of(text);
    if (depth <= most) return {};
    return {Code::invalid_argument,
            fmt::format("brackets nest {} deep; allowed are {} levels", depth, most)};
}

Result<nlohmann::json> json_in(std::string_view text) {
    GRADCOLL_TRY(check_json_depth(text, most_json_depth));
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return Status(Code::invalid_argument, "found no JSON");
    return json;
}

std::string reason_of(const nlohmann::json::exception& error) {
    const std::string_view text = error.what();  // "[...] " is in front
    const std::size_t end = text.find("] ");
    return std::string(text.substr(end == text.npos ? 0 : end + 2));
}

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gradcoll
