// compress/coded_block.hpp - where the blocks of codecs of variable rate lie: a table that hosts
// and devices share (compress/README.md, "Variable rate"). Such blocks, moved on a device: put
// together for the host, or copied to room of their own. Names no device runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"

namespace gradcoll {

/// CodedBlock says where a block lies. Offsets are from the begin of the memory that the table is
/// about.
struct CodedBlock {
    std::uint64_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t is_plain = 0;  ///< 1: its elements, not encoded; else 0
};
static_assert(sizeof(CodedBlock) == 16);

/// BlockMove moves blocks from one table to another. All memory is reached by the device.
struct BlockMove {
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
    const CodedBlock* from = nullptr;  ///< where each lies in `in`, as the device finds it
    CodedBlock* to =
        nullptr;  ///< sets where in `out` each goes by offset_bytes; size_bytes, is_plain get set
    std::size_t count = 0;  ///< blocks
};

/// Starts all moves on a stream of a device (DeviceStream::native()); returns at once, allocates
/// nothing. Errors: transport (the device's runtime refused the launch).
using LaunchBlockMoves = Status (*)(void* stream, std::span<const BlockMove> moves);

}  // namespace gradcoll
