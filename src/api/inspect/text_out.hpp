// api/inspect/text_out.hpp - how a text of any length leaves the library.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace gradcoll {

/// `*length` is in: size of `text`; out: bytes needed with the final 0. `text` may be null to ask
/// for the size. Errors: invalid_argument if `length` is null or the text does not fit.
Status copy_text(const std::string& from, char* text, std::size_t* length);

}  // namespace gradcoll
