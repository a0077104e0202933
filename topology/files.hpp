// topology/files.hpp - the files that describe machines, hosts and switches, looked at to see what
// they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// What is at a path, as far as it can be told without knowing any format.
struct PathContent {
    bool is_folder = false;
    std::vector<std::string> names;  ///< of what is in a folder, in order
    std::string text;                ///< of a file, without a byte order mark

    /// The text begins with this, blanks aside.
    bool begins_with(char c) const;
    /// Of a folder: what netloc records of each InfiniBand subnet.
    std::vector<std::string> subnet_names() const;
    /// The name of the outermost element if the text is XML; else empty.
    std::string_view xml_element() const;
};

/// Errors: as read_file(); io for a folder that cannot be read.
Result<PathContent> content_at(const std::string& path);

}  // namespace gradcoll
