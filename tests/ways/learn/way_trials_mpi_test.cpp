// Both ways take turns, all ranks come to the same, and what was found is kept by tree.
#include "ways/learn/way_trials.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "api/api_support.hpp"
#include "ways/host_trees.hpp"
#include "ways/learn/remembered_ways.hpp"

namespace gradcoll::test {
namespace {

constexpr std::uint64_t vector_bytes = 3 << 20;
constexpr std::uint64_t us = 1000;
constexpr int calls_of_pair = WayTrials::calls_before_pair + 2;
constexpr int half = calls_of_pair * WayTrials::most_pairs / 2;
constexpr int all = 2 * half;

class WayTrialsTest : public testing::Test {
  protected:
    void SetUp() override { trials_.begin({}, true); }
    /// Adds calls that take so long each way; they differ from rank to rank, and the first are
    /// disturbed. Returns how many it takes to know.
    int calls_until_known(std::uint64_t ours_us, std::uint64_t mpi_us) {
        for (int call = 1; call <= 2 * all; ++call) {
            const TriedWay way = trials_.next(vector_bytes);
            const std::uint64_t here = way == TriedWay::other ? mpi_us : ours_us;
            const std::uint64_t disturbed = call <= calls_of_pair ? 10 * here : 0;
            const auto rank = static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD));
            const auto found =
                trials_.add(MPI_COMM_WORLD, vector_bytes, way, (here + disturbed + rank) * us);
            EXPECT_TRUE(found.ok());
            if (!found.ok() || !*found) continue;
            const double usual = static_cast<double>(size_of(MPI_COMM_WORLD) - 1) / 2;
            EXPECT_NEAR((*found)->ours_ns / us, static_cast<double>(ours_us) + usual, 0.01);
            EXPECT_NEAR((*found)->other_ns / us, static_cast<double>(mpi_us) + usual, 0.01);
            return call;
        }
        return 0;
    }
    WayTrials trials_;
};

TEST_F(WayTrialsTest, TheFasterWayIsKept) {
    EXPECT_TRUE(trials_.tries(vector_bytes));
    EXPECT_EQ(calls_until_known(1000, 850), all);
    EXPECT_FALSE(trials_.tries(vector_bytes));
    EXPECT_EQ(trials_.next(vector_bytes), TriedWay::other);
    EXPECT_EQ(trials_.next(vector_bytes + 1), TriedWay::other) << "of nearly the same size";
    EXPECT_TRUE(trials_.tries(2 * vector_bytes));
}

TEST_F(WayTrialsTest, OursIsKeptIfThereIsLittleToGain) {
    EXPECT_EQ(calls_until_known(1000, 950), all);
    EXPECT_EQ(trials_.next(vector_bytes), TriedWay::ours);
}

TEST_F(WayTrialsTest, AClearDifferenceEndsTheTrial) {
    EXPECT_EQ(calls_until_known(1000, 3000), half);
    EXPECT_EQ(trials_.next(vector_bytes), TriedWay::ours);
}

TEST_F(WayTrialsTest, OtherCallsPayForIt) {
    for (int call = 0; call < WayTrials::calls_before_pair; ++call) {
        EXPECT_FALSE(trials_.is_about_to_begin(vector_bytes));
        EXPECT_EQ(trials_.next(vector_bytes), TriedWay::ours);
        EXPECT_FALSE(*trials_.add(MPI_COMM_WORLD, vector_bytes, TriedWay::ours, us));
    }
    EXPECT_TRUE(trials_.is_about_to_begin(vector_bytes));
    EXPECT_EQ(trials_.next(vector_bytes), TriedWay::other);
}

TEST_F(WayTrialsTest, CallsThatWentAnotherWayDoNotCount) {
    for (int call = 0; call < 2 * all; ++call)
        EXPECT_FALSE(*trials_.add(MPI_COMM_WORLD, vector_bytes, TriedWay::other, us));
    EXPECT_EQ(calls_until_known(1000, 3000), half);
}

TEST_F(WayTrialsTest, WhatIsKnownIsNotTried) {
    ASSERT_NE(calls_until_known(3000, 1000), 0);
    WayTrials later;
    later.begin(trials_.known(), false);
    EXPECT_TRUE(later.is_on());
    EXPECT_EQ(later.next(vector_bytes), TriedWay::other);
    EXPECT_FALSE(later.tries(4 * vector_bytes)) << "GC_TUNE=cache";
    EXPECT_EQ(later.next(4 * vector_bytes), TriedWay::ours);
    later.begin({}, false);
    EXPECT_FALSE(later.is_on());
}

Tree three_hosts(const char* name, double gbytes_per_s) {
    return hosts(3, VertexKind::fabric_switch, gbytes_per_s, name);
}

TEST(KeptWays, AreThoseOfTheSameHostsWhateverTheirRates) {
    const auto folder = std::filesystem::temp_directory_path() /
                        ("gradcoll-ways-" + std::to_string(rank_of(MPI_COMM_WORLD)));
    std::filesystem::remove_all(folder);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    TriedWays ways{};
    ways[20] = TriedWay::other;
    ways[16] = TriedWay::ours;
    remember_ways(three_hosts("a", 1), ways);
    EXPECT_EQ(remembered_ways(three_hosts("a", 2)), ways);
    EXPECT_EQ(remembered_ways(three_hosts("b", 1)), TriedWays{});
    TriedWays more{};
    more[20] = TriedWay::ours;
    remember_ways(three_hosts("a", 1), more);
    ways[20] = TriedWay::ours;
    EXPECT_EQ(remembered_ways(three_hosts("a", 1)), ways) << "what is not said again stays";
    std::filesystem::remove_all(folder);
}

TEST(SurelyFaster, OnlyWhereARingWouldTakeLonger) {
    const Tree star = three_hosts("a", 1);
    const Tuning tuning;
    // 2/3 of 3 MB twice over 1 GB/s take 4 ms.
    EXPECT_TRUE(is_surely_faster(star, tuning, 3'000'000, 3000));
    EXPECT_FALSE(is_surely_faster(star, tuning, 3'000'000, 3900));
    EXPECT_FALSE(is_surely_faster(star, tuning, 3'000'000, 0)) << "nothing is predicted";
    EXPECT_FALSE(is_surely_faster(three_hosts("a", 0), tuning, 3'000'000, 1)) << "no rate is known";
}

}  // namespace
}  // namespace gradcoll::test
