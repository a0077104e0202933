// mover/profile/gunzip.cpp - see trace_file.hpp.
#include "mover/profile/trace_file.hpp"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>

namespace gradcoll::mover {
namespace {

constexpr std::size_t unpacked_at_once = std::size_t{1} << 20;

Status damaged() {
    return {Code::invalid_argument, "its gzip data are damaged or cut off"};
}

}  // namespace

Result<std::string> unpacked(std::string bytes, std::size_t most) {
    if (!bytes.starts_with("\x1f\x8b")) return bytes;
    const auto state = std::make_unique<inflate_state>();
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    state->next_in = reinterpret_cast<std::uint8_t*>(bytes.data());
    state->avail_in = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), UINT32_MAX));
    std::string text;
    while (state->block_state != ISAL_BLOCK_FINISH) {
        const std::size_t before = text.size();
        if (before >= most)
            return Status(Code::invalid_argument,
                          fmt::format("it unpacks to more than the {} bytes that are read", most));
        text.resize(before + unpacked_at_once);
        state->next_out = reinterpret_cast<std::uint8_t*>(text.data()) + before;
        state->avail_out = unpacked_at_once;
        if (isal_inflate(state.get()) != ISAL_DECOMP_OK) return damaged();
        text.resize(text.size() - state->avail_out);
        if (text.size() == before && state->block_state != ISAL_BLOCK_FINISH) return damaged();
    }
    return text;
}

}  // namespace gradcoll::mover
