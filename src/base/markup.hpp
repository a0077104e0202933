// base/markup.hpp - text from anywhere, made fit for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace gradcoll {

/// Returns `text` as it may stand between tags and inside quoted attributes, also in a document
/// that a strict XML parser reads: &, <, >, quotes are escaped, tabs and line ends become blanks,
/// other control characters and bytes that are no UTF-8 become U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace gradcoll
