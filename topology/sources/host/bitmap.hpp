// topology/sources/host/bitmap.hpp - hwloc's sets of CPUs and NUMA nodes, owned.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <memory>

namespace gradcoll {

/// Never null, but for bitmap_from().
using Bitmap = std::shared_ptr<hwloc_bitmap_s>;

/// Empty.
Bitmap new_bitmap();

inline constexpr std::uint32_t max_bitmap_bits = 65536;

/// As hwloc's files write it: "0x00000003,,0xffffffff", words of 32 bits, the highest first,
/// perhaps behind "0xf...f", which stands for all bits above. hwloc's own reader takes more than
/// that, and memory for as many words as it is asked for. Null if it is no such text, or has more
/// bits.
Bitmap bitmap_from(const char* text);

}  // namespace gradcoll
