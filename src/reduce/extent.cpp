// reduce/extent.cpp - from keys (kernels.cpp) back to values.
#include "reduce/extent.hpp"

#include <bit>
#include <cstdint>

#include "reduce/half.hpp"
#include "reduce/kernels.hpp"

namespace gradcoll {
namespace {

/// Turns a key into a value. It is its own inverse.
template <class Int>
Int unordered(std::int64_t key) {
    const auto bits = static_cast<Int>(key);
    return bits < 0 ? static_cast<Int>(bits ^ static_cast<Int>(~(Int{1} << (8 * sizeof bits - 1))))
                    : bits;
}

double value_of(ElementType type, std::int64_t key) {
    switch (type) {
        case ElementType::f16:
            return float_from_f16(static_cast<std::uint16_t>(unordered<std::int16_t>(key)));
        case ElementType::bf16:
            return float_from_bf16(static_cast<std::uint16_t>(unordered<std::int16_t>(key)));
        case ElementType::f64:
            return std::bit_cast<double>(unordered<std::int64_t>(key));
        default:
            return std::bit_cast<float>(unordered<std::int32_t>(key));
    }
}

}  // namespace

Extent extent_of(ElementType type, const void* data, std::size_t count) {
    const KernelTable& kernels = kernels_of(best_instruction_set());
    const ExtentKeys keys = kernels.extent[static_cast<std::size_t>(type)](data, count);
    if (keys.lowest > keys.highest) return {};
    return {value_of(type, keys.lowest), value_of(type, keys.highest)};
}

}  // namespace gradcoll
