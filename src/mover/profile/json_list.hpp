// mover/profile/json_list.hpp - reads a long list in a JSON document, one element at a time.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll::mover {

/// This hands over each object in the list at `key` of the outermost object, so that the document
/// is never in memory as a whole tree. Returns the document without them. Errors: invalid_argument
/// with the place of a fault.
Result<nlohmann::json> read_list(const std::string& origin, const std::string& text,
                                 std::string_view key,
                                 const std::function<void(const nlohmann::json&)>& take);

}  // namespace gradcoll::mover
