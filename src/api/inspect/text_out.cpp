#include "api/inspect/text_out.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradcoll {

Status TextOut::check() const {
    if (length == nullptr) return {Code::invalid_argument, "length is null"};
    return {};
}

Status TextOut::write(const std::string& from) const {
    GRADCOLL_TRY(check());
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
