// compress/encode_block.hpp - a block of a codec of variable rate as it travels: encoded, or as the
// plain elements that a receiver would have made of it (compress/README.md, "Variable rate").
#pragma once

#include <cstddef>

#include "base/status.hpp"
#include "compress/codec.hpp"
#include "compress/coded_block.hpp"

namespace gradcoll {

/// BlockValues is what a block is made of.
struct BlockValues {
    const void* values = nullptr;
    void* residual = nullptr;  ///< residual, or null
    std::size_t count = 0;     ///< elements, at most lossy_block_elems
};

/// Writes a block to `out`, which has room for `most_bytes`, the bound of its elements; the offset
/// stays 0. What would not save bytes becomes plain. Errors: internal if the codec writes more than
/// it said, or refuses what it wrote itself.
Result<CodedBlock> encode_block(const Codec& codec, const BlockValues& block,
                                std::size_t most_bytes, std::byte* out);

}  // namespace gradcoll
