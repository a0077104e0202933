// compress/coded_block.hpp - where the blocks of codecs of variable rate lie: a table that hosts
// and devices share (compress/README.md, "Variable rate").
#pragma once

#include <cstdint>

namespace gradcoll {

/// CodedBlock says where a block lies. Offsets are from the begin of the memory that the table is
/// about.
struct CodedBlock {
    std::uint64_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t is_plain = 0;  ///< 1: its elements, not encoded; else 0
};
static_assert(sizeof(CodedBlock) == 16);

}  // namespace gradcoll
