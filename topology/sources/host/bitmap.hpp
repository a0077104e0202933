// topology/sources/host/bitmap.hpp - owns hwloc's sets of CPUs and NUMA nodes.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <memory>

namespace gradcoll {

/// A Bitmap is never null, except as the result of bitmap_from().
using Bitmap = std::shared_ptr<hwloc_bitmap_s>;

/// Returns an empty bitmap.
Bitmap new_bitmap();

inline constexpr std::uint32_t max_bitmap_bits = 65536;

/// Reads a bitmap as hwloc's files write it: "0x00000003,,0xffffffff", words of 32 bits, the
/// highest first, perhaps behind "0xf...f", which stands for all bits above. hwloc's own reader
/// accepts more, and allocates as many words as the text asks for. Returns null for any other text,
/// or if it has more than max_bitmap_bits.
Bitmap bitmap_from(const char* text);

}  // namespace gradcoll
