#include "runtime/operation_numbers.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace gradcoll {
namespace {

TagLayout shortest_tags() {
    return *TagLayout::make(32767, 1);
}

TEST(OperationNumbers, AsManyAsTheTagsTellApartBeginAtOnce) {
    OperationNumbers numbers(shortest_tags());
    std::vector<OperationNumber> held;
    for (std::uint32_t i = 0; i < 64; ++i) {
        held.push_back(numbers.take());
        EXPECT_EQ(held.back().value(), i);
        EXPECT_TRUE(held.back().has_turn());
    }
    EXPECT_FALSE(numbers.take().has_turn());
}

TEST(OperationNumbers, OneMoreWaitsForTheOneThatHasItsTagsAndForNoOther) {
    OperationNumbers numbers(shortest_tags());
    std::vector<OperationNumber> held;
    for (int i = 0; i < 64 + 2; ++i) held.push_back(numbers.take());
    held[1].end();
    EXPECT_FALSE(held[64].has_turn());
    EXPECT_TRUE(held[65].has_turn());
    held[0] = {};
    EXPECT_TRUE(held[64].has_turn());
}

TEST(OperationNumbers, ThoseWithTheSameTagsHaveTheirTurnsInOrder) {
    OperationNumbers numbers(shortest_tags());
    std::vector<OperationNumber> held;
    for (int i = 0; i < 3 * 64; ++i) held.push_back(numbers.take());
    held[64].end();  // it did not begin at all
    EXPECT_FALSE(held[128].has_turn());
    held[0].end();
    EXPECT_TRUE(held[128].has_turn());
}

TEST(OperationNumbers, GoOnWithoutEnd) {
    OperationNumbers numbers(shortest_tags());
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const OperationNumber number = numbers.take();
        EXPECT_EQ(number.value(), i);
        EXPECT_TRUE(number.has_turn());
    }
}

TEST(OperationNumbers, KnowWhetherTheSignatureIsAnother) {
    OperationNumbers numbers(shortest_tags());
    EXPECT_EQ(numbers.change_to(5), SignatureChange::changed);
    EXPECT_EQ(numbers.change_to(5), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(0), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(5), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(6), SignatureChange::changed);
}

TEST(OperationNumbers, KnowTheLengthOfWhatIsCutApart) {
    OperationNumbers numbers(shortest_tags());
    EXPECT_EQ(numbers.change_to(5, 100), SignatureChange::changed);
    EXPECT_EQ(numbers.change_to(5, 100), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(5, 200), SignatureChange::changed);
    EXPECT_EQ(numbers.change_to(5), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(5, 200), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(6), SignatureChange::changed);
}

TEST(OperationNumbers, ThoseAfterLeftoversMeetThem) {
    OperationNumbers numbers(shortest_tags());
    OperationNumber first = numbers.take();
    EXPECT_FALSE(first.meets_leftovers());
    first.note_leftovers();
    EXPECT_TRUE(numbers.take().meets_leftovers());
    EXPECT_FALSE(OperationNumber().meets_leftovers());
}

TEST(OperationNumbers, DoNotKnowTheSignatureOfOthersAfterAFailure) {
    OperationNumbers numbers(shortest_tags());
    numbers.change_to(5);
    OperationNumber failed = numbers.take();
    failed.note_failure();
    EXPECT_EQ(numbers.change_to(0), SignatureChange::none);
    EXPECT_EQ(numbers.change_to(5), SignatureChange::unknown);
    EXPECT_EQ(numbers.change_to(5), SignatureChange::none);
    OperationNumber().note_failure();
}

TEST(OperationNumbers, AnEmptyOneWaitsForNobody) {
    OperationNumber empty;
    EXPECT_TRUE(empty.has_turn());
    empty.end();
}

}  // namespace
}  // namespace gradcoll
