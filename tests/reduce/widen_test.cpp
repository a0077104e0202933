// To a wider type and back: every bit, and how far off the result is said to be.
#include "reduce/widen.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "reduce/half.hpp"

namespace gradcoll {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

TEST(Widen, TypesAndTheirLimits) {
    EXPECT_EQ(wider_type(ElementType::f16), ElementType::f32);
    EXPECT_EQ(wider_type(ElementType::bf16), ElementType::f32);
    EXPECT_EQ(wider_type(ElementType::f32), ElementType::f64);
    EXPECT_FALSE(has_wider_type(ElementType::f64));
    EXPECT_FALSE(has_wider_type(ElementType::i32));
    EXPECT_EQ(largest_of(ElementType::bf16), float_from_bf16(0x7f7f));
    EXPECT_EQ(largest_of(ElementType::f16), float_from_f16(0x7bff));
    EXPECT_EQ(rounding_of(ElementType::f32), 0x1p-24);
}

/// Every pattern of 16 bits comes back; NaN as a NaN.
TEST(Widen, SixteenBitsComeBackAsTheyWere) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
        std::vector<std::uint16_t> all(1 << 16), back(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
        std::vector<float> wide(all.size());
        widen(type, all.data(), all.size(), wide.data());
        EXPECT_EQ(narrow(type, wide.data(), wide.size(), 0, back.data()), 0);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (std::isnan(wide[i]))
                ASSERT_GT(back[i] & 0x7fff, type == ElementType::f16 ? 0x7c00 : 0x7f80);
            else
                ASSERT_EQ(back[i], all[i]);
        }
    }
}

TEST(Narrow, RoundsToNearestAndSaysHowFar) {
    std::mt19937 random(7);
    std::normal_distribution<double> values;
    for (const std::size_t count : {1U, 7U, 8U, 1000U}) {
        std::vector<double> wide(count);
        for (double& value : wide) value = values(random);
        std::vector<float> got(count);
        const double off = narrow(ElementType::f32, wide.data(), count, 1e-3, got.data());
        double farthest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(got[i], static_cast<float>(wide[i]));
            farthest = std::max(farthest, std::abs(got[i] - wide[i]));
        }
        EXPECT_DOUBLE_EQ(off, farthest + 1e-3);
        EXPECT_DOUBLE_EQ(narrow(ElementType::f32, wide.data(), count, 1e-3, nullptr), off);
    }
}

TEST(Narrow, OfNumbersWithoutValueNothingIsSaid) {
    const double wide[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, 1};
    float got[4];
    EXPECT_EQ(narrow(ElementType::f32, wide, 4, 0, got), 0);
    EXPECT_TRUE(std::isnan(got[0]));
    EXPECT_EQ(got[1], inf);
    EXPECT_EQ(got[2], -inf);
}

TEST(ToDoubles, TakesEveryFloatingPointType) {
    const std::uint16_t halves[] = {0x3e00, 0xc000, 0x0001};  // 1.5, -2 and the least
    const std::uint16_t brains[] = {0x3fc0, 0xc000, 0x0001};
    const float floats[] = {1.5F, -2, std::numeric_limits<float>::denorm_min()};
    const double doubles[] = {1.5, -2, std::numeric_limits<double>::denorm_min()};
    const auto check = [](ElementType type, const void* in, double least) {
        std::vector<double> got(3);
        to_doubles(type, in, got);
        EXPECT_EQ(got, (std::vector<double>{1.5, -2, least})) << name_of(type);
    };
    check(ElementType::f16, halves, 0x1p-24);
    check(ElementType::bf16, brains, 0x1p-133);
    check(ElementType::f32, floats, 0x1p-149);
    check(ElementType::f64, doubles, 0x1p-1074);
}

/// What may be a number in truth becomes none only if everything within `off` does.
TEST(Narrow, BecomesInfinityOnlyWhereItMust) {
    const double largest = std::numeric_limits<float>::max();
    const double wide[] = {largest + 1e33, -largest - 1e36, largest};
    float got[3];
    EXPECT_NEAR(narrow(ElementType::f32, wide, 3, 1e34, got), 1e34 + 1e33, 1e30);
    EXPECT_EQ(got[0], std::numeric_limits<float>::max());
    EXPECT_EQ(got[1], -inf);
    EXPECT_EQ(got[2], std::numeric_limits<float>::max());
    EXPECT_EQ(narrow(ElementType::f32, wide, 1, 0, got), 0);
    EXPECT_EQ(got[0], inf);

    const float halves[] = {65519, 65520, -65504};
    std::uint16_t half[3];
    EXPECT_EQ(narrow(ElementType::f16, halves, 3, 0, half), 15);
    EXPECT_EQ(half[0], 0x7bff);
    EXPECT_EQ(half[1], 0x7c00);
    EXPECT_EQ(narrow(ElementType::f16, halves, 2, 1, half), 17);
    EXPECT_EQ(half[1], 0x7bff);
}

TEST(LowestBit, IsThatOfTheFinestElement) {
    const float floats[] = {3, -8, 0.75F, 0, inf, std::nanf("")};
    EXPECT_EQ(lowest_bit_of(ElementType::f32, floats, 2, 99), 0);
    EXPECT_EQ(lowest_bit_of(ElementType::f32, floats + 1, 1, 99), 3);
    EXPECT_EQ(lowest_bit_of(ElementType::f32, floats, 6, 99), -2);
    EXPECT_EQ(lowest_bit_of(ElementType::f32, floats + 3, 3, 99), 99);
    const double least[] = {std::numeric_limits<double>::denorm_min()};
    EXPECT_EQ(lowest_bit_of(ElementType::f64, least, 1, 99), -1074);
    const std::uint16_t halves[] = {0x0001};
    EXPECT_EQ(lowest_bit_of(ElementType::f16, halves, 1, 99), -24);
    EXPECT_EQ(lowest_bit_of(ElementType::bf16, halves, 1, 99), -133);
}

}  // namespace
}  // namespace gradcoll
