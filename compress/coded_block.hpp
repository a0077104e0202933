// compress/coded_block.hpp - the blocks of codecs of variable rate, as they travel: each encoded,
// or as the plain elements that a receiver would have made of it (compress/README.md, "Variable
// rate"). Hosts and devices share the layout of a table of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "compress/codec.hpp"

namespace gradcoll {

/// Where a block lies, from the begin of the memory that its table is about.
struct CodedBlock {
    std::uint64_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t is_plain = 0;  ///< 1: its elements, not encoded; else 0
};
static_assert(sizeof(CodedBlock) == 16);

/// What a block is made of.
struct BlockValues {
    const void* values = nullptr;
    void* residual = nullptr;  ///< null: without
    std::size_t count = 0;     ///< elements, at most lossy_block_elems
};

/// Writes a block to `out`, which has room for `most_bytes`, the bound of its elements; the offset
/// stays 0. What would not save bytes becomes plain. Errors: internal if the codec writes more than
/// it said, or refuses what it wrote itself.
Result<CodedBlock> encode_block(const Codec& codec, const BlockValues& block,
                                std::size_t most_bytes, std::byte* out);

}  // namespace gradcoll
