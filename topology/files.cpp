// topology/files.cpp - see files.hpp.
#include "topology/files.hpp"

#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"

namespace gradcoll {

namespace {

/// The first element of an XML text, without comments and declarations.
std::string_view first_element(std::string_view text) {
    for (;;) {
        const std::size_t open = text.find('<');
        if (open == text.npos || open + 1 == text.size()) return {};
        text.remove_prefix(open + 1);
        const bool comment = text.starts_with("!--");
        if (!comment && text.front() != '?' && text.front() != '!')
            return text.substr(0, text.find_first_of(" \t\r\n/>"));
        const std::string_view end = comment ? "-->" : ">";
        const std::size_t close = text.find(end);
        if (close == text.npos) return {};
        text.remove_prefix(close + end.size());
    }
}

}  // namespace

bool PathContent::begins_with(char c) const {
    return trimmed(text).starts_with(c);
}

std::string_view PathContent::xml_element() const {
    return begins_with('<') ? first_element(text) : std::string_view();
}

Result<PathContent> content_at(const std::string& path) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    PathContent content;
    std::error_code ignored;
    content.is_folder = std::filesystem::is_directory(path, ignored);
    if (content.is_folder) return content;
    content.text = GRADCOLL_VALUE(read_file(path));
    if (content.text.starts_with(byte_order_mark)) content.text.erase(0, byte_order_mark.size());
    return content;
}

}  // namespace gradcoll
