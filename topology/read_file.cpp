// topology/read_file.cpp - see read_file.hpp.
#include "topology/read_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace gradcoll {

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

}  // namespace gradcoll
