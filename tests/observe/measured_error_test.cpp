#include "observe/measured_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gradcoll {
namespace {

TEST(MeasuredError, IsTheLargestAndTheRelativeDifference) {
    const std::vector<double> exact = {3, 0, 4, 0};
    const std::vector<float> result = {3, 0.5F, 4, -1.0F};
    const Difference found = difference_of(ElementType::f32, result.data(), exact);
    EXPECT_DOUBLE_EQ(found.max_abs, 1.0);
    EXPECT_DOUBLE_EQ(found.relative_l2, std::sqrt(1.25) / 5);
}

TEST(MeasuredError, OfEqualVectorsIsZeroEvenIfTheyAre) {
    const std::vector<double> zeros(5);
    const Difference found = difference_of(ElementType::f64, zeros.data(), zeros);
    EXPECT_EQ(found.max_abs, 0);
    EXPECT_EQ(found.relative_l2, 0);
}

TEST(MeasuredError, KnowsThe16BitFloats) {
    const std::vector<std::uint16_t> half = {0x4000, 0xc000};  // 2, -2
    EXPECT_DOUBLE_EQ(
        difference_of(ElementType::f16, half.data(), std::vector<double>{1, -2}).max_abs, 1);
    const std::vector<std::uint16_t> brain = {0x3f80, 0x4000};  // 1, 2
    EXPECT_DOUBLE_EQ(
        difference_of(ElementType::bf16, brain.data(), std::vector<double>{1, 4}).max_abs, 2);
}

TEST(MeasuredError, OfLongVectorsIsThatOfAllElements) {
    std::vector<float> result(5000, 1);
    const std::vector<double> exact(result.size(), 1);
    for (const std::size_t at : {0U, 1023U, 1024U, 4999U}) {
        result[at] = 3;
        EXPECT_DOUBLE_EQ(difference_of(ElementType::f32, result.data(), exact).max_abs, 2) << at;
        result[at] = 1;
    }
}

TEST(MeasuredError, LeavesOutWhatTheTypeHasNoNumberForInTheExactSumOnly) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const double beyond : {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e39, -1e39}) {
        const std::vector<double> exact = {beyond, 1};
        const std::vector<float> fine = {0, 1};
        EXPECT_EQ(difference_of(ElementType::f32, fine.data(), exact).max_abs, 0) << beyond;
        const std::vector<float> broken = {infinity, std::nanf("")};
        EXPECT_EQ(difference_of(ElementType::f32, broken.data(), exact).max_abs, HUGE_VAL);
    }
}

}  // namespace
}  // namespace gradcoll
