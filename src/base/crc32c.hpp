// base/crc32c.hpp - the checksum of what travels (CRC32C, Castagnoli).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradcoll {

/// Goes on with a checksum: that of two spans one behind the other is
/// `~crc32c(crc32c(~0U, first), second)`. It finds damage, not forgery.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes);

}  // namespace gradcoll
