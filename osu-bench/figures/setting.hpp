// setting.hpp - settings as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gradcoll::bench {

/// Splits "KEY=VALUE"; returns nothing for any other text, or if there is no key.
std::optional<std::pair<std::string, std::string>> parse_setting(std::string_view text);

}  // namespace gradcoll::bench
