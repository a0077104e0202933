// api/inspect/text_out.hpp - how a text of any length leaves the library: the (text, length)
// arguments of the C calls.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace gradcoll {

struct TextOut {
    char* text = nullptr;           ///< null asks for the size alone
    std::size_t* length = nullptr;  ///< in: size of `text`; out: bytes needed with the final 0

    /// Checks the arguments before anything collective happens. Errors: invalid_argument if
    /// `length` is null.
    Status check() const;
    /// Writes the text and its length. Errors: those of check(), and invalid_argument if the text
    /// does not fit.
    Status write(const std::string& from) const;
};

}  // namespace gradcoll
