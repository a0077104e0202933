#include "api/inspect/text_out.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradcoll {

Status copy_text(const std::string& from, char* text, std::size_t* length) {
    if (length == nullptr) return {Code::invalid_argument, "length is null"};
    const std::size_t size = *length;
    const std::size_t needed = from.size() + 1;
    *length = needed;
    if (text == nullptr) return {};
    if (size < needed)
        return {Code::invalid_argument,
                fmt::format("*length is {}, but the text needs {} bytes", size, needed)};
    std::memcpy(text, from.c_str(), needed);
    return {};
}

}  // namespace gradcoll
