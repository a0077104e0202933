// The 16-bit floats of the peer's user op, over all bit patterns.
#include "half.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradcoll::bench {
namespace {

// The value of a finite binary16 from its definition (IEEE 754-2008, section 3.4).
double half_by_definition(unsigned bits) {
    const int exponent = static_cast<int>((bits >> 10) & 0x1f);
    const int mantissa = static_cast<int>(bits & 0x3ff);
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

bool is_finite_half(unsigned bits) {
    return (bits & 0x7c00u) != 0x7c00u;
}

template <class T>
unsigned stored(float value) {
    T out{};
    store(value, out);
    return out.bits;
}

TEST(BenchHalf, EveryFiniteHalfHasItsDefinedValueAndComesBack) {
    for (unsigned bits = 0; bits <= 0xffffu; ++bits) {
        if (is_finite_half(bits)) {
            const float value = to_float(Float16{static_cast<std::uint16_t>(bits)});
            ASSERT_EQ(value, half_by_definition(bits)) << bits;
            ASSERT_EQ(stored<Float16>(value), bits);
        }
    }
}

TEST(BenchHalf, MidpointsRoundToTheEvenNeighbourAndTheirNeighboursToTheNearest) {
    for (unsigned bits = 0; bits + 1 < 0x7c00u; ++bits) {
        const float middle =
            static_cast<float>((half_by_definition(bits) + half_by_definition(bits + 1)) / 2);
        const unsigned even = bits % 2 == 0 ? bits : bits + 1;
        ASSERT_EQ(stored<Float16>(middle), even) << bits;
        ASSERT_EQ(stored<Float16>(std::nextafter(middle, 0.0F)), bits);
        ASSERT_EQ(stored<Float16>(std::nextafter(middle, 1e30F)), bits + 1);
    }
}

TEST(BenchHalf, LargeValuesBecomeInfiniteAndSpecialValuesStay) {
    EXPECT_EQ(stored<Float16>(65519.996F), 0x7bffu);
    EXPECT_EQ(stored<Float16>(65520.0F), 0x7c00u);
    EXPECT_EQ(stored<Float16>(-1e30F), 0xfc00u);
    EXPECT_EQ(stored<Float16>(-INFINITY), 0xfc00u);
    EXPECT_TRUE(std::isnan(to_float(Float16{static_cast<std::uint16_t>(stored<Float16>(NAN))})));
    EXPECT_TRUE(std::isinf(to_float(Float16{0x7c00})));
    EXPECT_TRUE(std::isnan(to_float(Float16{0x7e00})));
}

TEST(BenchHalf, BFloat16RoundsToNearestEven) {
    EXPECT_EQ(stored<BFloat16>(1.0F), 0x3f80u);
    EXPECT_EQ(stored<BFloat16>(1.0F + 0x1p-8F), 0x3f80u);
    EXPECT_EQ(stored<BFloat16>(1.0F + 0x3p-8F), 0x3f82u);
    EXPECT_EQ(stored<BFloat16>(3.4e38F), 0x7f80u);
    EXPECT_TRUE(std::isnan(to_float(BFloat16{static_cast<std::uint16_t>(stored<BFloat16>(NAN))})));
}

}  // namespace
}  // namespace gradcoll::bench
