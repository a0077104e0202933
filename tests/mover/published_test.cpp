// tests/mover/published_test.cpp - our memory agrees with what others have published, within the
// bounds that the table names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>

#include "mover/published.hpp"

namespace gradcoll::mover {
namespace {

std::string published_report(const std::vector<PublishedRow>& rows) {
    std::string text = fmt::format("{:<7}{:<44}{:>11}{:>9} {:<11}{:>8}{:>9}\n", "model", "figure",
                                   "published", "ours", "", "error", "allowed");
    for (const PublishedRow& row : rows)
        fmt::format_to(std::back_inserter(text),
                       "{:<7}{:<44}{:>11.2f}{:>9.2f} {:<11}{:>6.2f} %{:>7.1f} %{}\n", row.model,
                       row.what, row.published, row.ours, row.unit, 100 * row.error,
                       100 * row.allowed, row.holds() ? "" : "  TOO FAR OFF");
    return text +
           "\nKorthikanti et al., arXiv 2205.05198, Figures 1 and 7: four models on A100, "
           "tensor parallelism 8; the layers alone, without embedding and head.\n";
}

std::string step_times_report(const std::vector<StepTimes>& groups) {
    std::string text = fmt::format("\n{:<26}{:>6}{:>12}{:>8}{:>10}\n", "time of a step", "rows",
                                   "mean error", "worst", "allowed");
    for (const StepTimes& group : groups)
        fmt::format_to(std::back_inserter(text), "{:<26}{:>6}{:>10.2f} %{:>6.1f} %{:>8.1f} %{}\n",
                       group.pipeline == 0 ? std::string("all")
                                           : fmt::format("pipeline of {}", group.pipeline),
                       group.rows, 100 * group.mean_error, 100 * group.worst_error,
                       100 * group.allowed, group.holds() ? "" : "  TOO FAR OFF");
    return text +
           "\nBang et al., vTrain (MICRO'24), data/ground_truth_single.csv: GPT models in up to "
           "eight A100. Operators take what 160 of the rows say; the others are simulated.\n";
}

TEST(Published, EveryRowIsWithinItsBound) {
    const auto rows = published_rows();
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    std::fputs(published_report(*rows).c_str(), stdout);
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
    std::fputs(step_times_report(*groups).c_str(), stdout);
    ASSERT_EQ(4U, groups->size());
    EXPECT_EQ(1440 - 160, groups->back().rows);
    for (const StepTimes& group : *groups)
        EXPECT_TRUE(group.holds()) << group.pipeline << " " << group.mean_error;
}

}  // namespace
}  // namespace gradcoll::mover
