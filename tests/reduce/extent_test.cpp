// The smallest and the largest finite element, against a loop over values.
#include "reduce/extent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "reduce/kernels.hpp"

namespace gradcoll {
namespace {

template <class T>
Extent by_value(const std::vector<T>& values) {
    Extent extent{HUGE_VAL, -HUGE_VAL};
    for (const T value : values)
        if (std::isfinite(value)) {
            extent.lowest = std::min(extent.lowest, static_cast<double>(value));
            extent.highest = std::max(extent.highest, static_cast<double>(value));
        }
    return extent.lowest > extent.highest ? Extent{} : extent;
}

template <class T, class Bits>
void expect_as_by_value(ElementType type) {
    std::mt19937_64 random(1);
    for (std::size_t count : {1, 2, 7, 64, 1000}) {
        std::vector<T> values(count);
        for (T& value : values) {
            const Bits bits = static_cast<Bits>(random());
            std::memcpy(&value, &bits, sizeof value);
        }
        EXPECT_EQ(extent_of(type, values.data(), count), by_value(values)) << count;
    }
}

TEST(Extent, OfAnyBitsIsThatOfTheFiniteValues) {
    expect_as_by_value<float, std::uint32_t>(ElementType::f32);
    expect_as_by_value<double, std::uint64_t>(ElementType::f64);
}

TEST(Extent, IsTheSameWithEveryInstructionSet) {
    std::mt19937_64 random(2);
    for (const ElementType type :
         {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
        for (std::size_t count = 0; count < 200; ++count) {
            std::vector<std::uint64_t> bits(count + 1);
            for (std::uint64_t& one : bits) one = random();
            const auto keys_with = [&](InstructionSet set) {
                return kernels_of(set).extent[static_cast<std::size_t>(type)](bits.data(), count);
            };
            const ExtentKeys scalar = keys_with(InstructionSet::scalar);
            for (const InstructionSet set : all_instruction_sets) {
                if (!cpu_has(set)) continue;
                EXPECT_EQ(keys_with(set).lowest, scalar.lowest) << name_of(type) << ' ' << count;
                EXPECT_EQ(keys_with(set).highest, scalar.highest) << name_of(type) << ' ' << count;
            }
        }
}

TEST(Extent, KnowsThe16BitFloats) {
    const std::vector<std::uint16_t> half = {0x3c00, 0xc000, 0x7c00, 0xfc00, 0x7e00, 0x0001};
    EXPECT_EQ(extent_of(ElementType::f16, half.data(), half.size()), (Extent{-2, 1}));
    const std::vector<std::uint16_t> brain = {0x3f80, 0xc080, 0x7f80, 0xff80, 0x7fc0, 0x0000};
    EXPECT_EQ(extent_of(ElementType::bf16, brain.data(), brain.size()), (Extent{-4, 1}));
}

TEST(Extent, IsOnOneSideOfZeroIfAllElementsAre) {
    const std::vector<float> high = {3, 2, 5}, low = {-3, -2, -5};
    EXPECT_EQ(extent_of(ElementType::f32, high.data(), 3), (Extent{2, 5}));
    EXPECT_EQ(extent_of(ElementType::f32, low.data(), 3), (Extent{-5, -2}));
    EXPECT_EQ((Extent{-5, 2}).range(), 7);
    EXPECT_EQ((Extent{-5, 2}).largest_magnitude(), 5);
}

TEST(Extent, OfNothingFiniteIsZero) {
    const std::vector<float> none = {std::numeric_limits<float>::infinity(), std::nanf("")};
    EXPECT_EQ(extent_of(ElementType::f32, none.data(), none.size()), Extent{});
    EXPECT_EQ(extent_of(ElementType::f32, nullptr, 0), Extent{});
}

}  // namespace
}  // namespace gradcoll
