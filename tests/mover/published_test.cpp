// tests/mover/published_test.cpp - our memory agrees with what others have published, within the
// bounds that the table names.
#include <gtest/gtest.h>

#include "mover/validate/published.hpp"
#include "mover/validate/step_times.hpp"

namespace gradcoll::mover {
namespace {

TEST(Published, EveryRowIsWithinItsBound) {
    const auto rows = published_rows();
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(28U, rows->size());
    for (const PublishedRow& row : *rows) {
        EXPECT_TRUE(row.holds()) << row.model << " " << row.what << ": published " << row.published
                                 << ", ours " << row.ours;
        // Figures that were not read from a drawing agree to a thousandth.
        if (row.unit != "GiB") continue;
        EXPECT_NEAR(1, row.ours / row.published, 1e-3) << row.model;
    }
}

TEST(Published, StepTimesFollowFromTimesOfOperators) {
    const auto groups = published_step_times();
    ASSERT_TRUE(groups.ok()) << groups.status().message();
    ASSERT_EQ(4U, groups->size());
    EXPECT_EQ(1440 - 160, groups->back().rows);
    for (const StepTimes& group : *groups)
        EXPECT_TRUE(group.holds()) << group.pipeline << " " << group.mean_error;
}

}  // namespace
}  // namespace gradcoll::mover
