// api/inspect/text_out.hpp - how a text of any length leaves the library: the (text, length)
// arguments of the C calls.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/status.hpp"

namespace gradcoll {

struct TextOut {
    char* text = nullptr;           ///< null asks for the size alone
    std::size_t* length = nullptr;  ///< in: size of `text`; out: bytes needed with the final 0

    /// Checks the arguments before anything collective happens. Errors: invalid_argument if
    /// `length` is null.
    Status check() const {
        if (length == nullptr) return {Code::invalid_argument, "length is null"};
        return {};
    }
    /// Writes the text and its length. Errors: those of check(), and invalid_argument if the text
    /// does not fit.
    Status write(const std::string& from) const {
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
};

}  // namespace gradcoll
