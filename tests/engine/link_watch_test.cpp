// When links are believed to carry something else than was said of them, and when they are not.
#include "engine/link_watch.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gradcoll {
namespace {

constexpr std::uint64_t us = 1000;

/// Steps are those of a program: ten gradients each, whose bytes take 100 us each on links as said.
class Steps {
  public:
    /// Runs one step in which links carry this part of what is said of them, `at_once` sums at a
    /// time.
    void step(double carried, int at_once = 1, double worked = 0) {
        const auto took = static_cast<std::uint64_t>(100 * us / carried);
        for (std::uint32_t first = 0; first < gradients;
             first += static_cast<std::uint32_t>(at_once)) {
            for (int i = 0; i < at_once; ++i)
                if (const auto carry =
                        watch_.begun(first + static_cast<std::uint32_t>(i), now_, worked_)) {
                    ++plans_;
                    planned_for_ = *carry;
                }
            now_ += static_cast<std::uint64_t>(at_once) * took;
            worked_ += static_cast<std::uint64_t>(worked * static_cast<double>(at_once) *
                                                  static_cast<double>(took));
            for (int i = 0; i < at_once; ++i) watch_.ended({100, 1}, now_);
            now_ += 500 * us;  // nothing runs
        }
    }
    void steps(int count, double carried, int at_once = 1, double worked = 0) {
        for (int i = 0; i < count; ++i) step(carried, at_once, worked);
    }
    int plans() const { return plans_; }
    double planned_for() const { return planned_for_; }

  private:
    static constexpr std::uint32_t gradients = 10;
    LinkWatch watch_;
    std::uint64_t now_ = 1;
    std::uint64_t worked_ = 0;
    int plans_ = 0;
    double planned_for_ = 1;
};

TEST(LinkWatch, WhatIsSaidIsRightIsLeftAlone) {
    for (const double carried : {1.0, 0.6, 1.4})
        for (const int at_once : {1, 2, 5}) {
            Steps steps;
            steps.steps(500, carried, at_once);
            EXPECT_EQ(steps.plans(), 0) << carried << ", " << at_once;
        }
}

TEST(LinkWatch, LinksThatAreFarFromWhatIsSaidAreFoundInAFewSteps) {
    for (const double carried : {0.05, 20.0, 0.25})
        for (const int at_once : {1, 2}) {
            Steps steps;
            steps.steps(4, carried, at_once);
            EXPECT_EQ(steps.plans(), 0) << carried;
            steps.steps(1, carried, at_once);
            EXPECT_EQ(steps.plans(), 1) << carried;
            EXPECT_NEAR(steps.planned_for(), carried, carried / 50);
            steps.steps(500, carried, at_once);
            EXPECT_EQ(steps.plans(), 1) << carried;
        }
}

TEST(LinkWatch, LinksThatGetSlowerAreFoundLater) {
    Steps steps;
    steps.steps(50, 0.8);
    EXPECT_EQ(steps.plans(), 0);
    steps.steps(6, 0.3);
    EXPECT_EQ(steps.plans(), 1);
    EXPECT_NEAR(steps.planned_for(), 0.3, 0.02);
    steps.steps(20, 0.9);
    EXPECT_EQ(steps.plans(), 2);
    EXPECT_NEAR(steps.planned_for(), 0.9, 0.05);
}

/// A few slow steps, a step now and then, and what comes and goes must not count.
TEST(LinkWatch, WhatDoesNotLastIsNotBelieved) {
    Steps steps;
    steps.steps(10, 1);
    for (int i = 0; i < 100; ++i) {
        steps.steps(3, 0.1);
        steps.steps(1, 1);
    }
    for (int i = 0; i < 100; ++i) {
        steps.steps(2, 0.1);
        steps.steps(2, 8);
    }
    EXPECT_EQ(steps.plans(), 0);
}

/// Each time it takes twice as long to believe it.
TEST(LinkWatch, ItIsNeverDoneOften) {
    Steps steps;
    for (int i = 0; i < 200; ++i) steps.steps(5, i % 2 == 0 ? 0.1 : 1);
    EXPECT_EQ(steps.plans(), 1);
    Steps longer;
    for (int i = 0; i < 10; ++i) longer.steps(100, i % 2 == 0 ? 0.1 : 1);
    EXPECT_LE(longer.plans(), 10);
    EXPECT_GE(longer.plans(), 5);
}

TEST(LinkWatch, LinksAreNotToBlameForWhatCoresTake) {
    Steps steps;
    steps.steps(100, 0.1, 1, 0.8);
    EXPECT_EQ(steps.plans(), 0);
    steps.steps(100, 0.1, 1, 0.1);
    EXPECT_EQ(steps.plans(), 1);
}

/// The names of these gradients never come again.
TEST(LinkWatch, GradientsThatAreSummedOnceTellOfLinksToo) {
    LinkWatch watch;
    std::uint64_t now = 1;
    int plans = 0;
    for (std::uint32_t gradient = 0; gradient < 6000; ++gradient) {
        if (watch.begun(gradient, now, 0)) ++plans;
        now += 1000 * us;
        watch.ended({100, 1}, now);
    }
    EXPECT_EQ(plans, 1);
}

}  // namespace
}  // namespace gradcoll
