// apps.batches - shares of a batch and the order of the pictures.
#include "batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace {

using namespace train;

TEST(ShareOf, SharesCoverEverythingOnceAndDifferByOneAtMost) {
    for (const std::size_t total : {0, 1, 5, 256, 257})
        for (const std::size_t parts : {1, 2, 3, 7}) {
            std::size_t next = 0;
            for (std::size_t part = 0; part < parts; ++part) {
                const Share share = share_of(total, part, parts);
                EXPECT_EQ(share.begin, next);
                EXPECT_LE(share.end - share.begin, total / parts + 1);
                next = share.end;
            }
            EXPECT_EQ(next, total);
        }
}

TEST(ShuffledOrder, IsAPermutationThatChangesWithSeedAndEpoch) {
    auto order = shuffled_order(1000, 1, 0);
    EXPECT_EQ(order, shuffled_order(1000, 1, 0));
    EXPECT_NE(order, shuffled_order(1000, 1, 1));
    EXPECT_NE(order, shuffled_order(1000, 2, 0));
    std::vector<std::uint32_t> all(1000);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_NE(order, all);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
}

TEST(LoadBatch, FollowsTheOrderAndScalesPixels) {
    const Dataset data{3, 2, {0, 255, 10, 20, 30, 40}, {4, 5, 6}};
    Batch batch;
    load_batch(data, {2, 0, 1}, {0, 2}, batch);
    EXPECT_EQ(batch.count, 2U);
    EXPECT_EQ(batch.labels, (std::vector<std::uint8_t>{6, 4}));
    ASSERT_EQ(batch.inputs.size(), 4U);
    EXPECT_FLOAT_EQ(batch.inputs[2], -0.2860F / 0.3530F);
    EXPECT_FLOAT_EQ(batch.inputs[3], (1.0F - 0.2860F) / 0.3530F);
    load_batch(data, {}, {1, 2}, batch);
    EXPECT_EQ(batch.labels, (std::vector<std::uint8_t>{5}));
}

}  // namespace
