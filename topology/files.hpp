// topology/files.hpp - looks at the files that describe machines, hosts and switches, to see what
// they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// PathContent is what is at a path, as far as can be told without knowing any format.
struct PathContent {
    bool is_folder = false;
    std::vector<std::string> names;  ///< names in a folder, in order
    std::string text;                ///< text of a file, without a byte order mark

    /// Returns whether the text begins with this character, after blanks.
    bool begins_with(char c) const;
    /// Returns, for a folder, the names of the files in which netloc records InfiniBand subnets.
    std::vector<std::string> subnet_names() const;
    /// Returns the name of the outermost element if the text is XML, else an empty text.
    std::string_view xml_element() const;
};

/// Reads what is at the path. Errors: those of read_file(); io for a folder that cannot be read.
Result<PathContent> content_at(const std::string& path);

}  // namespace gradcoll
