#include "nic/agent/wire.hpp"

#include <fmt/format.h>
#include <isa-l/crc.h>

namespace gradcoll {
namespace {

/// Computes the CRC. ISA-L does not change what it reads, but takes it by a pointer that could.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::byte> bytes) {
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    return crc32_iscsi(data, static_cast<int>(bytes.size()), before);
}

}  // namespace

std::uint32_t crc_of(LinkFrame frame, std::span<const std::byte> bytes) {
    frame.crc = 0;
    const std::uint32_t of_frame = crc32c(~0U, std::as_bytes(std::span(&frame, 1)));
    return ~(bytes.empty() ? of_frame : crc32c(of_frame, bytes));
}

Status check_link_frame(const LinkFrame& frame, std::uint32_t most_bytes) {
    const auto kind = static_cast<int>(frame.kind);
    if (frame.magic != link_magic || kind < static_cast<int>(FrameKind::up) ||
        kind > static_cast<int>(FrameKind::no_sums))
        return {Code::corrupt, fmt::format("frame with magic {:#x} of kind {}", frame.magic, kind)};
    const auto coding = static_cast<unsigned>(frame.coding);
    if (coding >= nic_coding_count || (!has_bytes(frame.kind) && coding != 0))
        return {Code::corrupt, fmt::format("frame of kind {} with coding {}", kind, coding)};
    const std::uint32_t most = has_bytes(frame.kind) ? most_bytes : 0;
    if (frame.size_bytes > most)
        return {Code::corrupt,
                fmt::format("frame of {} bytes; at most {} are allowed", frame.size_bytes, most)};
    return {};
}

}  // namespace gradcoll
