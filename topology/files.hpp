// topology/files.hpp - the files that describe machines, hosts and switches, looked at to see what
// they are.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

/// What is at a path, as far as it can be told without knowing any format.
struct PathContent {
    bool is_folder = false;
    std::string text;  ///< of a file, without a byte order mark

    /// The text begins with this, blanks aside.
    bool begins_with(char c) const;
    /// The name of the outermost element if the text is XML; else empty.
    std::string_view xml_element() const;
};

/// Errors: as read_file().
Result<PathContent> content_at(const std::string& path);

}  // namespace gradcoll
