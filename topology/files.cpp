// topology/files.cpp - see files.hpp.
#include "topology/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"

namespace gradcoll {

namespace {

/// Returns the first element of an XML text, after comments and declarations.
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

Result<std::vector<std::string>> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        names.push_back(at->path().filename().string());
    if (error)
        return Status(Code::io,
                      fmt::format("folder \"{}\" cannot be read: {}", folder, error.message()));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::vector<std::string> PathContent::subnet_names() const {
    std::vector<std::string> subnets;
    std::copy_if(names.begin(), names.end(), std::back_inserter(subnets), [](const auto& name) {
        return name.starts_with("ib-subnet-") && name.ends_with(".txt");
    });
    return subnets;
}

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
    if (content.is_folder) {
        content.names = GRADCOLL_VALUE(names_in(path));
        return content;
    }
    content.text = GRADCOLL_VALUE(read_file(path));
    if (content.text.starts_with(byte_order_mark)) content.text.erase(0, byte_order_mark.size());
    return content;
}

}  // namespace gradcoll
