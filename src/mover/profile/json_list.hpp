// mover/profile/json_list.hpp - reads a long list in a JSON document, one element at a time.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "mover/input/fields.hpp"
#include "mover/program/ticks.hpp"
#include "topology/json_value.hpp"

namespace gradcoll::mover {

/// This hands over each object in the list at `key` of the outermost object, so that the document
/// is never in memory as a whole tree. Returns the document without them. Errors: invalid_argument
/// with the place of a fault.
inline Result<nlohmann::json> read_list(const std::string& origin, const std::string& text,
                                        std::string_view key,
                                        const std::function<void(const nlohmann::json&)>& take) {
    using Event = nlohmann::json::parse_event_t;
    if (const Status deep = check_json_depth(text, most_json_depth); !deep.ok())
        return wrong_input(origin, "", deep.message());
    bool in_list = false;
    // An element of the list is at depth 2: it is passed on, and not kept.
    const auto element_of = [&](int depth, Event event, nlohmann::json& parsed) {
        if (depth == 1 && event == Event::key) in_list = parsed == key;
        if (depth != 2 || event != Event::object_end || !in_list) return true;
        take(parsed);
        return false;
    };
    try {
        return nlohmann::json::parse(text, element_of);
    } catch (const nlohmann::json::exception& error) {
        return wrong_input(origin, "", reason_of(error));
    }
}

}  // namespace gradcoll::mover
