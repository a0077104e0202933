// The memory that others have published, within the bounds that the table names.
#include <gtest/gtest.h>

#include "mover/validate/published.hpp"

namespace gradcoll::mover {
namespace {

TEST(Published, EveryRowIsWithinItsBound) {
    const auto rows = published_rows();
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(28U, rows->size());
    for (const PublishedRow& row : *rows) {
        EXPECT_TRUE(row.holds()) << row.model << " " << row.what << ": published " << row.published
                                 << ", ours " << row.ours;
        // What is read from no drawing is met to a thousandth.
        if (row.unit != "GiB") continue;
        EXPECT_NEAR(1, row.ours / row.published, 1e-3) << row.model;
    }
}

}  // namespace
}  // namespace gradcoll::mover
