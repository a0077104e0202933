#include "reduce/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace gradcoll {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Returns the value by IEEE 754-2019 3.4; NaN for NaN.
double value_of_f16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const double sign = bits >> 15 == 0 ? 1 : -1;
    if (exponent == 31) return mantissa == 0 ? sign * infinity : std::nan("");
    return sign *
           (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(F16, EveryPatternHasTheValueOfTheStandard) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const double expected = value_of_f16(static_cast<std::uint16_t>(bits));
        const float value = float_from_f16(static_cast<std::uint16_t>(bits));
        if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(value)) << bits;
        else
            EXPECT_EQ(std::bit_cast<std::uint64_t>(double{value}),
                      std::bit_cast<std::uint64_t>(expected))
                << bits;
    }
}

TEST(F16, ThereAndBackIsTheSamePatternButNanBecomesQuiet) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const bool nan = (bits & 0x7fffU) > 0x7c00U;
        EXPECT_EQ(f16_from_float(float_from_f16(static_cast<std::uint16_t>(bits))),
                  nan ? bits | 0x200U : bits);
    }
}

/// Between neighbours, the middle goes to the even one and everything else to the nearer one.
TEST(F16, RoundsToNearestEvenBetweenAllNeighbours) {
    for (std::uint16_t low = 0; low < 0x7bff; ++low) {
        const auto high = static_cast<std::uint16_t>(low + 1);
        const float middle = (float_from_f16(low) + float_from_f16(high)) / 2;
        EXPECT_EQ(f16_from_float(middle), low % 2 == 0 ? low : high);
        EXPECT_EQ(f16_from_float(std::nextafter(middle, 0.0F)), low);
        EXPECT_EQ(f16_from_float(std::nextafter(middle, infinity)), high);
        EXPECT_EQ(f16_from_float(-std::nextafter(middle, infinity)), high | 0x8000);
    }
}

TEST(F16, OverflowGivesInfinityFromHalfAStepAboveTheLargest) {
    EXPECT_EQ(f16_from_float(65504.0F), 0x7bff);
    EXPECT_EQ(f16_from_float(std::nextafter(65520.0F, 0.0F)), 0x7bff);
    EXPECT_EQ(f16_from_float(65520.0F), 0x7c00);
    EXPECT_EQ(f16_from_float(-infinity), 0xfc00);
    EXPECT_EQ(f16_from_float(std::numeric_limits<float>::max()), 0x7c00);
}

TEST(F16, ANanStaysNanQuietAndKeepsTheTopOfItsPayload) {
    EXPECT_EQ(f16_from_float(std::bit_cast<float>(0x7f800001U)), 0x7e00);
    EXPECT_EQ(f16_from_float(std::bit_cast<float>(0xff802001U)), 0xfe01);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(float_from_f16(0xfc01)), 0xffc02000U);
}

TEST(F16, UnderflowKeepsTheSign) {
    EXPECT_EQ(f16_from_float(-0.0F), 0x8000);
    EXPECT_EQ(f16_from_float(std::numeric_limits<float>::denorm_min()), 0);
    EXPECT_EQ(f16_from_float(-std::ldexp(1.0F, -26)), 0x8000);
    EXPECT_EQ(f16_from_float(std::ldexp(1.0F, -25)), 0);
    EXPECT_EQ(f16_from_float(std::nextafter(std::ldexp(1.0F, -25), 1.0F)), 1);
}

TEST(Bf16, ThereAndBackIsTheSamePatternButNanBecomesQuiet) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const bool nan = (bits & 0x7fffU) > 0x7f80U;
        EXPECT_EQ(bf16_from_float(float_from_bf16(static_cast<std::uint16_t>(bits))),
                  nan ? bits | 0x40U : bits);
    }
}

TEST(Bf16, RoundsToNearestEvenBetweenAllNeighbours) {
    for (std::uint16_t low = 0; low < 0x7f7f; ++low) {
        const auto high = static_cast<std::uint16_t>(low + 1);
        const auto middle = std::bit_cast<float>(std::uint32_t{low} << 16 | 0x8000U);
        EXPECT_EQ(bf16_from_float(middle), low % 2 == 0 ? low : high);
        EXPECT_EQ(bf16_from_float(std::nextafter(middle, 0.0F)), low);
        EXPECT_EQ(bf16_from_float(std::nextafter(middle, infinity)), high);
    }
}

TEST(Bf16, OverflowGivesInfinityAndANanWithALowPayloadStaysNan) {
    EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
    EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x7f800001U)), 0x7fc0);
    EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0xffffffffU)), 0xffff);
}

}  // namespace
}  // namespace gradcoll
