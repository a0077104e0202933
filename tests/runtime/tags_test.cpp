#include "runtime/tags.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <set>

namespace gradcoll {
namespace {

TEST(TagLayout, FieldsOfThirtyOneBitsAreElevenFourAndSixteen) {
    const auto tags = TagLayout::make(INT_MAX, 65536);
    ASSERT_TRUE(tags.ok()) << tags.status().message();
    EXPECT_EQ(tags->sequence_count(), 1U << 11);
    EXPECT_EQ(tags->chunk_count(), max_chunks_in_flight);
    EXPECT_EQ(tags->stage_count(), 1U << 16);
    EXPECT_EQ(tags->base((1U << 11) - 1, 15) + 65535, INT_MAX);
}

TEST(TagLayout, FieldsOfTheStandardsFifteenBitsAreSixTwoAndSeven) {
    const auto tags = TagLayout::make(32767, 128);
    ASSERT_TRUE(tags.ok()) << tags.status().message();
    EXPECT_EQ(tags->sequence_count(), 64U);
    EXPECT_EQ(tags->chunk_count(), 4);
    EXPECT_EQ(tags->stage_count(), 128U);
    EXPECT_EQ(tags->base(63, 3) + 127, 32767);
}

TEST(TagLayout, LongerTagsNeverNumberLess) {
    for (int bits = 16; bits <= 31; ++bits) {
        const auto shorter = TagLayout::make(static_cast<int>((1U << (bits - 1)) - 1), 1);
        const auto tags = TagLayout::make(static_cast<int>((1U << bits) - 1), 1);
        ASSERT_TRUE(shorter.ok() && tags.ok());
        EXPECT_GE(tags->sequence_count(), shorter->sequence_count()) << bits;
        EXPECT_GE(tags->chunk_count(), shorter->chunk_count()) << bits;
        EXPECT_GE(tags->stage_count(), shorter->stage_count()) << bits;
        EXPECT_EQ(std::uint64_t{tags->sequence_count()} * tags->stage_count() *
                      static_cast<unsigned>(tags->chunk_count()),
                  std::uint64_t{1} << bits);
    }
}

TEST(TagLayout, OperationsAndChunksInFlightNeverShareATag) {
    const auto tags = TagLayout::make(32767, 3);
    ASSERT_TRUE(tags.ok());
    std::set<int> seen;
    for (std::uint32_t sequence = 100; sequence < 164; ++sequence)
        for (std::int64_t chunk = 1000; chunk < 1004; ++chunk)
            for (int stage = 0; stage < 3; ++stage)
                EXPECT_TRUE(seen.insert(tags->base(sequence, chunk) + stage).second);
}

TEST(TagLayout, ALimitThatIsNoPowerOfTwoIsNotExceeded) {
    const auto tags = TagLayout::make(100'000, 1);
    ASSERT_TRUE(tags.ok());
    EXPECT_LE(
        tags->base(tags->sequence_count() - 1, 15) + static_cast<int>(tags->stage_count()) - 1,
        100'000);
}

TEST(TagLayout, TooManyStagesAreRefusedWithBothNumbers) {
    const auto tags = TagLayout::make(32767, 129);
    ASSERT_FALSE(tags.ok());
    EXPECT_EQ(tags.status().code(), Code::unsupported);
    EXPECT_NE(tags.status().message().find("129"), std::string::npos);
    EXPECT_NE(tags.status().message().find("128"), std::string::npos);
}

TEST(TagLayout, ALimitBelowTheStandardIsRefused) {
    EXPECT_EQ(TagLayout::make(1000, 1).status().code(), Code::unsupported);
}

/// The least tags that MPI grants have 128 stages: half are for seals, and one is for outcomes.
TEST(TagLayout, CheckedOperationsHaveHalfOfTheStages) {
    EXPECT_TRUE(TagLayout::make(32767, TagLayout::checked_stages(63)).ok());
    EXPECT_FALSE(TagLayout::make(32767, TagLayout::checked_stages(64)).ok());
    for (const int limit : {32767, 131071, 8388607, 0x7fffffff}) {
        const TagLayout tags = *TagLayout::make(limit, TagLayout::checked_stages(63));
        EXPECT_GE(tags.outcome_stage(), 63);
        EXPECT_LT(tags.outcome_stage() + tags.seal_shift(), static_cast<int>(tags.stage_count()));
        const int last = tags.base(tags.sequence_count() - 1, tags.chunk_count() - 1) +
                         tags.outcome_stage() + tags.seal_shift();
        EXPECT_LE(last, limit);
    }
}

}  // namespace
}  // namespace gradcoll
