#include "compress/lossless/packer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/refusals.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

std::unique_ptr<Packer> made(Packing packing) {
    switch (packing) {
        case Packing::zstd:
            return make_zstd_packer();
        case Packing::lz4:
            return make_lz4_packer();
        case Packing::none:
            break;
    }
    return nullptr;
}

Result<std::unique_ptr<Packer>> if_there(std::unique_ptr<Packer> packer, Packing packing) {
    if (packer == nullptr)
        return Status(Code::out_of_memory,
                      fmt::format("no memory for what {} works in", name_of(packing)));
    return packer;
}

Status check_room(const PackedPayload& payload, std::size_t room_bytes) {
    const std::uint64_t most = room_bytes - std::min(room_bytes, frame_header_bytes);
    if (payload.plain_bytes <= most) return {};
    return corrupt("message header: plain payload bytes is {}, expected at most {}",
                   payload.plain_bytes, most);
}

}  // namespace

Result<std::unique_ptr<Packer>> make_packer(Packing packing) {
    if (packing == Packing::none) return Status(Code::internal, "a packer for no packing");
    return if_there(made(packing), packing);
}

Result<std::unique_ptr<Packer>> make_byte_packer() {
    return if_there(make_zstd_byte_packer(), Packing::zstd);
}

std::size_t pack_message(std::span<const std::byte> message, Packer& packer, std::byte* out) {
    const auto payload = message.subspan(frame_header_bytes);
    if (payload.empty()) return 0;
    const std::size_t packed = packer.pack(payload, {out + frame_header_bytes, payload.size() - 1});
    if (packed == 0) return 0;
    std::copy_n(message.data(), frame_header_bytes, out);
    write_packing(out, packer.packing(), packed);
    return frame_header_bytes + packed;
}

Result<std::size_t> unpack_message(std::span<const std::byte> message, Packer& packer,
                                   std::span<std::byte> room) {
    const PackedPayload payload = GRADCOLL_VALUE(read_packing(message.data(), message.size()));
    GRADCOLL_TRY(check_room(payload, room.size()));
    if (payload.by == Packing::none) {
        std::copy(message.begin(), message.end(), room.begin());
        return message.size();
    }
    if (payload.by != packer.packing())
        return corrupt("message header: packing is {}, expected {}", name_of(payload.by),
                       name_of(packer.packing()));
    if (!packer.unpack(message.subspan(frame_header_bytes),
                       room.subspan(frame_header_bytes, payload.plain_bytes)))
        return corrupt("the payload of {} bytes is no packing of {} bytes by {}",
                       payload.packed_bytes, payload.plain_bytes, name_of(payload.by));
    std::copy_n(message.begin(), frame_header_bytes, room.begin());
    clear_packing(room.data());
    return frame_header_bytes + payload.plain_bytes;
}

}  // namespace gradcoll
