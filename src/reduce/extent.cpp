// reduce/extent.cpp - extents by integers: those of bits that are ordered as the values are, so
// that compilers make vector code of the loop whatever NaN there is.
#include "reduce/extent.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "reduce/half.hpp"

namespace gradcoll {
namespace {

/// A format by its bits: Int as wide as an element, its exponent's lowest bit, its value as double.
template <class Signed, int fraction_bits, double (*value_of)(Signed bits)>
struct Format {
    using Int = Signed;
    static constexpr Int magnitude = std::numeric_limits<Int>::max();
    static constexpr Int infinity = static_cast<Int>(magnitude >> fraction_bits << fraction_bits);

    /// Ordered as the values. Its own inverse.
    static Int ordered(Int bits) { return bits < 0 ? static_cast<Int>(bits ^ magnitude) : bits; }
    static double value(Int key) { return value_of(ordered(key)); }
};

double value_of_f32(std::int32_t bits) {
    return std::bit_cast<float>(bits);
}
double value_of_f64(std::int64_t bits) {
    return std::bit_cast<double>(bits);
}
double value_of_bf16(std::int16_t bits) {
    return std::bit_cast<float>(std::uint32_t{static_cast<std::uint16_t>(bits)} << 16);
}
double value_of_f16(std::int16_t bits) {
    return std::bit_cast<float>(
        f32_bits_from_f16_bits<float, std::uint32_t>(static_cast<std::uint16_t>(bits)));
}

template <class F>
Extent extent(const void* data, std::size_t count) {
    using Int = typename F::Int;
    Int lowest = std::numeric_limits<Int>::max();
    Int highest = std::numeric_limits<Int>::min();
    const auto* const bytes = static_cast<const std::byte*>(data);
    for (std::size_t i = 0; i < count; ++i) {
        Int bits;
        std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
        const bool finite = static_cast<Int>(bits & F::magnitude) < F::infinity;
        const Int key = F::ordered(bits);
        const Int low = finite ? key : lowest;
        const Int high = finite ? key : highest;
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
    }
    if (lowest > highest) return {};
    return {F::value(lowest), F::value(highest)};
}

}  // namespace

Extent extent_of(ElementType type, const void* data, std::size_t count) {
    switch (type) {
        case ElementType::f16:
            return extent<Format<std::int16_t, 10, value_of_f16>>(data, count);
        case ElementType::bf16:
            return extent<Format<std::int16_t, 7, value_of_bf16>>(data, count);
        case ElementType::f64:
            return extent<Format<std::int64_t, 52, value_of_f64>>(data, count);
        default:
            return extent<Format<std::int32_t, 23, value_of_f32>>(data, count);
    }
}

}  // namespace gradcoll
