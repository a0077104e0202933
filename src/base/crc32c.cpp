#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstddef>

namespace gradcoll {

/// ISA-L does not change what it reads, but takes it by a pointer that could, and its length by an
/// int.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    for (std::size_t done = 0; done < bytes.size();) {
        const std::size_t part = std::min(most, bytes.size() - done);
        before = crc32_iscsi(data + done, static_cast<int>(part), before);
        done += part;
    }
    return before;
}

}  // namespace gradcoll
