// compress/block_move.hpp - the blocks of messages of variable rate, moved on a device: put
// together for the host, or copied to room of their own. Names no device runtime.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"
#include "compress/coded_block.hpp"

namespace gradcoll {

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
