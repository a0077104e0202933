// topology/files.cpp - see files.hpp.
#include "topology/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

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

Result<std::string> read_file(const std::string& path) {
    constexpr std::size_t max_bytes = std::size_t{256} << 20;
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string bytes;
    std::array<char, 1 << 16> block;
    while (file && bytes.size() <= max_bytes) {
        file.read(block.data(), block.size());
        bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (!file.eof()) {
        const std::string reason = bytes.size() > max_bytes ? "it is larger than 256 MiB"
                                                            : std::strerror(errno ? errno : EIO);
        return Status(Code::io, fmt::format("file \"{}\" cannot be read: {}", path, reason));
    }
    return bytes;
}

Status replace_file(const std::string& path, const std::string& text) {
    const std::string temporary = fmt::format("{}.{}.new", path, getpid());
    const auto trouble = [&](int error) {
        unlink(temporary.c_str());
        return Status(Code::io,
                      fmt::format("file \"{}\" cannot be written: {}", path, std::strerror(error)));
    };
    unlink(temporary.c_str());  // of a process that died, and had the same number
    const int file =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) return trouble(errno);
    for (std::string_view left = text; !left.empty();) {
        const ssize_t written = write(file, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        const int error = errno;
        if (written <= 0) {
            close(file);
            return trouble(error);
        }
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (close(file) != 0 || rename(temporary.c_str(), path.c_str()) != 0) return trouble(errno);
    return {};
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
    if (content.is_folder) return content;
    content.text = GRADCOLL_VALUE(read_file(path));
    if (content.text.starts_with(byte_order_mark)) content.text.erase(0, byte_order_mark.size());
    return content;
}

}  // namespace gradcoll
