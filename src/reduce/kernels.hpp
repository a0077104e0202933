// reduce/kernels.hpp - the kernels of one instruction set as a table; private to this folder and
// its tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "reduce/element_type.hpp"
#include "reduce/reduce_op.hpp"

namespace gradcoll {

constexpr std::size_t element_type_count = static_cast<std::size_t>(ElementType::opaque);

/// ExtentKeys are bits that are ordered as the values are (extent.cpp).
struct ExtentKeys {
    std::int64_t lowest,
        highest;  ///< extremes of finite elements; if there are none lowest > highest
};
using ExtentFunction = ExtentKeys (*)(const void* data, std::size_t count);

/// A function of a KernelTable is null where the op is not defined for the type, or has no kernel
/// of its own.
struct KernelTable {
    ReduceFunction function[reduce_op_count][element_type_count];
    ReduceManyFunction sum_of_many[element_type_count];
    ExtentFunction extent[element_type_count];  ///< floating-point types
};

/// kernels.cpp has a table for each set. Call only what cpu_has() the set of.
using KernelTableOfSet = const KernelTable&();
KernelTableOfSet GRADCOLL_OF_SETS(kernel_table);

/// Returns the table of a set that this CPU has.
const KernelTable& kernels_of(InstructionSet set);

}  // namespace gradcoll
