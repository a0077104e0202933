// Every op, type and instruction set against the plain reference.
#include "reduce/reducer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "reduce/reference.hpp"

namespace gradcoll {
namespace {

using reference::Bytes;

constexpr ReduceOp all_ops[] = {ReduceOp::sum,  ReduceOp::prod, ReduceOp::min,  ReduceOp::max,
                                ReduceOp::land, ReduceOp::lor,  ReduceOp::lxor, ReduceOp::band,
                                ReduceOp::bor,  ReduceOp::bxor};
constexpr ElementType all_types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                     ElementType::f64, ElementType::i8,   ElementType::u8,
                                     ElementType::i16, ElementType::u16,  ElementType::i32,
                                     ElementType::u32, ElementType::i64,  ElementType::u64};

/// Returns random bits, often with an element whose top bytes make zero, one, the extremes,
/// infinity or NaN.
Bytes random_values(std::mt19937_64& random, std::size_t count, std::size_t element_bytes) {
    constexpr std::uint64_t tops[] = {0x0000, 0x8000, 0x7fff, 0xffff, 0x7f80, 0xff80, 0x7ff0,
                                      0x7c00, 0xfc00, 0x3f80, 0x7fc0, 0x7e00, 0x0080, 0x0400};
    Bytes bytes(count * element_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = random();
        const auto choice = random() % 4;
        if (choice == 0)
            value = tops[random() % std::size(tops)] << 48 >>
                    (64 - 8 * std::min<std::size_t>(element_bytes, 8));
        if (choice == 1) value = random() % 3;
        std::memcpy(bytes.data() + i * element_bytes, &value, element_bytes);
    }
    return bytes;
}

class EveryKernel
    : public testing::TestWithParam<std::tuple<ReduceOp, ElementType, InstructionSet>> {
  protected:
    void SetUp() override {
        std::tie(op_, type_, set_) = GetParam();
        if (!cpu_has(set_)) GTEST_SKIP() << "this CPU has no " << name_of(set_);
        reducer_ = reducer_for(op_, type_, set_);
    }

    Bytes values(std::size_t count) { return random_values(random_, count, element_bytes(type_)); }

    /// Expects equal bits, but where two NaN met in a sum or product only NaN.
    void expect_reduced(const Bytes& got, const Bytes& a, const Bytes& b) {
        const Bytes expected = reference::reduced(op_, type_, a, b);
        ASSERT_EQ(got.size(), expected.size());
        const std::size_t size = element_bytes(type_);
        for (std::size_t i = 0; i < got.size() / size; ++i) {
            const bool free_payload = op_ <= ReduceOp::prod && reference::both_nan(type_, a, b, i);
            const bool same = free_payload ? reference::is_nan(type_, got, i)
                                           : std::memcmp(got.data() + i * size,
                                                         expected.data() + i * size, size) == 0;
            ASSERT_TRUE(same) << "element " << i << " of " << got.size() / size;
        }
    }

    ReduceOp op_{};
    ElementType type_{};
    InstructionSet set_{};
    Reducer reducer_;
    std::mt19937_64 random_{7};
};

TEST_P(EveryKernel, IsThereExactlyWhereTheOpIsDefined) {
    EXPECT_EQ(static_cast<bool>(reducer_), reference::is_defined(op_, type_));
    EXPECT_EQ(reducer_.element_bytes, reducer_ ? element_bytes(type_) : 0U);
}

TEST_P(EveryKernel, EqualsTheReferenceForEveryCountTo70AndALargeOne) {
    if (!reducer_) return;
    for (std::size_t count = 0; count <= 71; ++count) {
        const std::size_t n = count == 71 ? 20011 : count;
        const Bytes a = values(n), b = values(n);
        Bytes out(a.size());
        reducer_(a.data(), b.data(), out.data(), n);
        expect_reduced(out, a, b);
    }
}

TEST_P(EveryKernel, OutMayBeTheFirstOrTheSecondOperandOrBoth) {
    if (!reducer_) return;
    for (const std::size_t n : {1U, 33U, 259U}) {
        const Bytes a = values(n), b = values(n);
        Bytes first = a, second = b, both = a;
        reducer_(first.data(), b.data(), first.data(), n);
        expect_reduced(first, a, b);
        reducer_(a.data(), second.data(), second.data(), n);
        expect_reduced(second, a, b);
        reducer_(both.data(), both.data(), both.data(), n);
        expect_reduced(both, a, a);
    }
}

TEST_P(EveryKernel, UnalignedBuffersWorkAndNothingAroundOutIsTouched) {
    if (!reducer_) return;
    constexpr std::size_t n = 75;
    constexpr std::size_t guard = 67;  // odd: no buffer is aligned
    const Bytes a = values(n), b = values(n);
    Bytes shifted_a(guard + a.size()), shifted_b(guard + b.size()), out(2 * guard + a.size(), 0xa5);
    std::copy(a.begin(), a.end(), shifted_a.begin() + guard);
    std::copy(b.begin(), b.end(), shifted_b.begin() + guard);
    reducer_(shifted_a.data() + guard, shifted_b.data() + guard, out.data() + guard, n);
    expect_reduced(Bytes(out.begin() + guard, out.end() - guard), a, b);
    EXPECT_EQ(std::count(out.begin(), out.begin() + guard, 0xa5), static_cast<int>(guard));
    EXPECT_EQ(std::count(out.end() - guard, out.end(), 0xa5), static_cast<int>(guard));
}

std::string name_of_case(const testing::TestParamInfo<EveryKernel::ParamType>& info) {
    const auto [op, type, set] = info.param;
    return std::string(name_of(op)) + "_" + std::string(name_of(type)) + "_" +
           std::string(name_of(set));
}

INSTANTIATE_TEST_SUITE_P(Reducer, EveryKernel,
                         testing::Combine(testing::ValuesIn(all_ops), testing::ValuesIn(all_types),
                                          testing::ValuesIn(all_instruction_sets.sets)),
                         name_of_case);

template <class T>
T combined(ReduceOp op, ElementType type, T a, T b) {
    T out{};
    reducer_for(op, type)(&a, &b, &out, 1);
    return out;
}

TEST(Reducer, IntegerOverflowWraps) {
    EXPECT_EQ(combined<std::int32_t>(ReduceOp::sum, ElementType::i32, INT32_MAX, 1), INT32_MIN);
    EXPECT_EQ(combined<std::int64_t>(ReduceOp::prod, ElementType::i64, INT64_MIN, -1), INT64_MIN);
    EXPECT_EQ(combined<std::int8_t>(ReduceOp::sum, ElementType::i8, -128, -1), 127);
    EXPECT_EQ(combined<std::uint16_t>(ReduceOp::prod, ElementType::u16, 65535, 65535), 1);
}

TEST(Reducer, TheSignCountsInMinAndMax) {
    EXPECT_EQ(combined<std::int8_t>(ReduceOp::min, ElementType::i8, -1, 1), -1);
    EXPECT_EQ(combined<std::uint8_t>(ReduceOp::min, ElementType::u8, 255, 1), 1);
    EXPECT_EQ(combined<std::int64_t>(ReduceOp::max, ElementType::i64, -1, 1), 1);
}

/// A fold combines operands in some order and grouping, as trees of ranks do.
Bytes folded(const Reducer& reducer, std::vector<Bytes> operands, std::mt19937_64& random) {
    while (operands.size() > 1) {
        std::shuffle(operands.begin(), operands.end(), random);
        const std::size_t count = operands[0].size() / reducer.element_bytes;
        const std::size_t shift = random() % 2 * reducer.element_bytes;  // into tail or body
        Bytes a(shift), b(shift), out(shift + operands[0].size());
        a.insert(a.end(), operands[0].begin(), operands[0].end());
        b.insert(b.end(), operands.back().begin(), operands.back().end());
        reducer(a.data() + shift, b.data() + shift, out.data() + shift, count);
        operands.pop_back();
        operands[0].assign(out.begin() + static_cast<std::ptrdiff_t>(shift), out.end());
    }
    return operands[0];
}

class Extremes : public testing::TestWithParam<std::tuple<ReduceOp, ElementType>> {};

TEST_P(Extremes, DependOnNothingButTheOperands) {
    const auto [op, type] = GetParam();
    std::mt19937_64 random(11);
    for (const std::size_t count : {1U, 3U, 17U, 67U, 129U})
        for (const std::size_t operands : {2U, 3U, 5U, 8U}) {
            std::vector<Bytes> in;
            for (std::size_t i = 0; i < operands; ++i)
                in.push_back(random_values(random, count, element_bytes(type)));
            Bytes expected = in[0];
            for (std::size_t i = 1; i < operands; ++i)
                expected = reference::reduced(op, type, expected, in[i]);
            for (const InstructionSet set : all_instruction_sets)
                for (int turn = 0; cpu_has(set) && turn < 8; ++turn)
                    ASSERT_EQ(folded(reducer_for(op, type, set), in, random), expected)
                        << operands << " operands of " << count << ", " << name_of(set);
        }
}

INSTANTIATE_TEST_SUITE_P(Reducer, Extremes,
                         testing::Combine(testing::Values(ReduceOp::min, ReduceOp::max),
                                          testing::Values(ElementType::f16, ElementType::bf16,
                                                          ElementType::f32, ElementType::f64)));

TEST(Reducer, ANanOnEitherSideOfMinAndMaxGivesTheQuietNanWithoutSignAndPayload) {
    const auto bits = [](ReduceOp op, std::uint32_t a, std::uint32_t b) {
        return combined<std::uint32_t>(op, ElementType::f32, a, b);
    };
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max})
        for (const std::uint32_t nan : {0x7fc00000U, 0xffc12345U, 0x7f800001U, 0xff800001U}) {
            EXPECT_EQ(bits(op, nan, 0x40000000U), 0x7fc00000U);
            EXPECT_EQ(bits(op, 0xff800000U, nan), 0x7fc00000U);
            EXPECT_EQ(bits(op, nan, nan), 0x7fc00000U);
        }
}

TEST(Reducer, MinusZeroIsBelowZero) {
    const auto bits = [](ReduceOp op, double a, double b) {
        return std::signbit(combined<double>(op, ElementType::f64, a, b));
    };
    EXPECT_TRUE(bits(ReduceOp::min, 0.0, -0.0) && bits(ReduceOp::min, -0.0, 0.0));
    EXPECT_FALSE(bits(ReduceOp::max, 0.0, -0.0) || bits(ReduceOp::max, -0.0, 0.0));
}

TEST(Reducer, LogicalOpsGiveZeroOrOne) {
    EXPECT_EQ(combined<std::uint32_t>(ReduceOp::land, ElementType::u32, 8, 4), 1U);
    EXPECT_EQ(combined<std::int8_t>(ReduceOp::lor, ElementType::i8, 0, -128), 1);
    EXPECT_EQ(combined<std::int16_t>(ReduceOp::lxor, ElementType::i16, 3, 5), 0);
}

TEST(Reducer, AHalfPrecisionSumIsRoundedOnceToEven) {
    EXPECT_EQ(combined<std::uint16_t>(ReduceOp::sum, ElementType::f16, 0x6800, 0x3c00),
              0x6800);  // 2048 + 1
    EXPECT_EQ(combined<std::uint16_t>(ReduceOp::sum, ElementType::f16, 0x6801, 0x3c00),
              0x6802);  // 2050 + 1
    EXPECT_EQ(combined<std::uint16_t>(ReduceOp::sum, ElementType::bf16, 0x4380, 0x3f80),
              0x4380);  // 256 + 1
}

TEST(Reducer, OpaqueElementsHaveNoKernel) {
    for (const ReduceOp op : all_ops) EXPECT_FALSE(reducer_for(op, ElementType::opaque));
}

TEST(Reducer, OpsAreNamedAsInMpi) {
    EXPECT_EQ(name_of(ReduceOp::sum), "sum");
    EXPECT_EQ(name_of(ReduceOp::bxor), "bxor");
}

}  // namespace
}  // namespace gradcoll
