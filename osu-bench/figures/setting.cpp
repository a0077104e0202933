#include "setting.hpp"

namespace gradcoll::bench {

std::optional<std::pair<std::string, std::string>> parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return {};
    return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace gradcoll::bench
