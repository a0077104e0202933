// Every rank takes itself for a host: all learn the same at the same call, a tree that makes calls
// slower is given back, and other times or rates are noticed.
#include "ways/learn/network_learning.hpp"

#include <gtest/gtest.h>

#include "api/api_support.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/cluster/kept_networks.hpp"
#include "ways/host_trees.hpp"

namespace gradcoll::test {
namespace {

using Advice = NetworkLearning::Advice;

constexpr std::uint64_t vector_bytes = 1 << 20;
constexpr std::uint64_t ms = 1'000'000;
constexpr int many_calls = 2000;

class NetworkLearningTest : public testing::Test {
  protected:
    /// Adds a call that took so long, and returns what it leads to; checks that this is the same on
    /// all ranks.
    Advice add(std::uint64_t elapsed_ns, bool exact = true, std::uint64_t bytes = vector_bytes) {
        const auto advice =
            learning_.add(MPI_COMM_WORLD, {bytes, exact, elapsed_ns + own_delay_ns_});
        EXPECT_TRUE(advice.ok()) << advice.status().message();
        const int mine = advice.ok() ? static_cast<int>(*advice) : -1;
        int sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(sum, mine * ranks_);
        return advice.ok() ? *advice : Advice::keep;
    }
    /// Returns the first advice other than keep, and how many calls that took.
    std::pair<Advice, int> next_advice(std::uint64_t elapsed_ns, int most = many_calls) {
        for (int call = 1; call <= most; ++call)
            if (const Advice advice = add(elapsed_ns); advice != Advice::keep)
                return {advice, call};
        return {Advice::keep, most};
    }
    void learn(std::uint64_t elapsed_ns) {
        learning_.begin(hosts(ranks_, VertexKind::group, 1.25));
        ASSERT_EQ(next_advice(elapsed_ns).first, Advice::set_rate);
        ASSERT_EQ(next_advice(elapsed_ns).first, Advice::look_again);
    }
    bool has_tree() const { return ranks_ > 2; }

    const int ranks_ = size_of(MPI_COMM_WORLD);
    /// Ranks seem to come into calls one after the other: the one that comes last tells what a call
    /// takes.
    const std::uint64_t own_delay_ns_ =
        static_cast<std::uint64_t>(ranks_ - 1 - rank_of(MPI_COMM_WORLD)) * ms;
    NetworkLearning learning_;
};

TEST_F(NetworkLearningTest, TimesCallsAndThenMeasuresForATenthOfTheirTime) {
    learning_.begin(hosts(ranks_, VertexKind::group, 1.25));
    ASSERT_TRUE(learning_.is_on());
    EXPECT_EQ(next_advice(10 * ms), std::pair(Advice::set_rate, LinkTiming::calls));
    const double passes = 2.0 * (ranks_ - 1) / ranks_;
    EXPECT_NEAR(learning_.rate_gbytes_per_s(), passes * vector_bytes / (10.0 * ms), 1e-9);
    if (!has_tree()) {
        EXPECT_FALSE(learning_.is_on()) << "two hosts have but one way";
        return;
    }
    const auto [advice, calls] = next_advice(10 * ms);
    ASSERT_EQ(advice, Advice::look_again);
    EXPECT_EQ(learning_.measured().hosts.size(), static_cast<std::size_t>(ranks_));
    EXPECT_GT(learning_.spent().slices, 0);
    // The last slice may take longer than what is left.
    const double paid_ms = 0.1 * 10 * (LinkTiming::calls + calls);
    EXPECT_LE(static_cast<double>(learning_.spent().ns) / 1e6, paid_ms + 500);
}

/// This goes before any call; what is known already is not measured again.
TEST_F(NetworkLearningTest, MeasuresAllAtOnceForWhoKeepsTheTree) {
    learning_.begin(hosts(ranks_, VertexKind::group, 1.25));
    const auto measured = learning_.measure_now(MPI_COMM_WORLD);
    ASSERT_TRUE(measured.ok()) << measured.status().message();
    EXPECT_EQ(*measured, has_tree());
    if (!has_tree()) return;
    EXPECT_EQ(learning_.measured().hosts.size(), static_cast<std::size_t>(ranks_));
    learning_.took(true);
    const int slices = learning_.spent().slices;
    EXPECT_FALSE(*learning_.measure_now(MPI_COMM_WORLD));
    learning_.begin(hosts(ranks_, VertexKind::fabric_switch, 0.1));
    EXPECT_FALSE(*learning_.measure_now(MPI_COMM_WORLD));
    EXPECT_EQ(learning_.spent().slices, 0);
    EXPECT_GT(slices, 0);
}

/// Rank 0 alone may know of it, from a communicator of others.
TEST_F(NetworkLearningTest, WhatAllRanksKnowByAnotherCommunicatorIsNotMeasuredAgain) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    learn(10 * ms);
    const SwitchTree measured = learning_.measured();
    for (const bool on_all : {true, false}) {
        SCOPED_TRACE(on_all);
        if (on_all || rank_of(MPI_COMM_WORLD) == 0) keep_network(measured, false);
        learn(10 * ms);
        EXPECT_EQ(learning_.spent().slices > 0, !on_all);
        EXPECT_EQ(learning_.measured().hosts.size(), measured.hosts.size());
        forget_network(measured);
        learning_.took(true);
        EXPECT_EQ(next_advice(12 * ms), std::pair(Advice::go_back, 13)) << "by all ranks' times";
    }
}

TEST_F(NetworkLearningTest, ATreeWithWhichCallsAreSlowerIsGivenBackForGood) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    learn(10 * ms);
    learning_.took(true);
    EXPECT_EQ(next_advice(12 * ms), std::pair(Advice::go_back, 13));
    EXPECT_FALSE(learning_.is_on());
}

TEST_F(NetworkLearningTest, ATreeWithWhichCallsAreFasterStays) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    learn(10 * ms);
    learning_.took(true);
    EXPECT_EQ(next_advice(6 * ms, 20).first, Advice::keep);
    EXPECT_TRUE(learning_.is_on());
}

/// Short calls between long ones wait for ranks that compute, and take as long on any tree. They
/// may be all that there is between the first long calls and the new tree.
TEST_F(NetworkLearningTest, ATreeIsComparedWithAllCallsFromTheFirstOneOn) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    constexpr std::uint64_t short_bytes = vector_bytes / 16;
    learning_.begin(hosts(ranks_, VertexKind::group, 1.25));
    ASSERT_EQ(next_advice(100 * ms).first, Advice::set_rate);
    Advice advice = Advice::keep;
    for (int call = 0; call < many_calls && advice == Advice::keep; ++call)
        advice = add(30 * ms, true, short_bytes);
    ASSERT_EQ(advice, Advice::look_again);
    learning_.took(true);
    for (int step = 0; step < 20; ++step) {
        EXPECT_EQ(add(50 * ms), Advice::keep);
        EXPECT_EQ(add(40 * ms, true, short_bytes), Advice::keep);
    }
    EXPECT_TRUE(learning_.is_on());
}

TEST_F(NetworkLearningTest, WhenCallsTakeLongerTheNetworkIsMeasuredAtOnce) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    learn(10 * ms);
    learning_.took(false);
    const NetworkLearning::Spent before = learning_.spent();
    // A hundredth of 25 calls of 10 ms pays for no slice; a tenth of as many that take three times
    // as long does.
    EXPECT_EQ(next_advice(10 * ms, 25).first, Advice::keep);
    EXPECT_EQ(learning_.spent().slices, before.slices);
    const auto [advice, calls] = next_advice(30 * ms);
    EXPECT_EQ(advice, Advice::look_again);
    learning_.took(true);
    EXPECT_EQ(next_advice(30 * ms, 20).first, Advice::keep) << "no slower than it is now";
}

TEST_F(NetworkLearningTest, AMeasuredTreeIsComparedFromTheFirstCallOn) {
    learning_.begin(hosts(ranks_, VertexKind::fabric_switch, 0.1));
    EXPECT_EQ(learning_.is_on(), has_tree());
    EXPECT_EQ(next_advice(10 * ms, 30).first, Advice::keep) << "its rates stay";
}

/// A hundredth of these calls pays for no slice, a tenth for a tree.
TEST_F(NetworkLearningTest, ATreeFromBeforeIsMeasuredAnewIfCallsTakeTwiceAsLongAsItSays) {
    if (!has_tree()) GTEST_SKIP() << "needs three hosts";
    constexpr int calls = 400;
    learning_.begin(hosts(ranks_, VertexKind::fabric_switch, 0.1));
    EXPECT_EQ(next_advice(10 * ms, calls).first, Advice::keep);
    EXPECT_EQ(learning_.spent().slices, 0);
    learning_.begin(hosts(ranks_, VertexKind::fabric_switch, 1));
    EXPECT_EQ(next_advice(10 * ms, calls).first, Advice::look_again);
    learning_.took(false);
    const int slices = learning_.spent().slices;
    EXPECT_EQ(next_advice(10 * ms, calls).first, Advice::keep) << "once is enough";
    EXPECT_EQ(learning_.spent().slices, slices);
}

TEST_F(NetworkLearningTest, CompressedCallsCountAsHalf) {
    learning_.begin(hosts(ranks_, VertexKind::group, 1.25));
    for (int call = 1; call < LinkTiming::calls; ++call)
        EXPECT_EQ(add(10 * ms, false), Advice::keep);
    EXPECT_EQ(add(10 * ms, false), Advice::set_rate);
    const double passes = 2.0 * (ranks_ - 1) / ranks_;
    EXPECT_NEAR(learning_.rate_gbytes_per_s(), passes * vector_bytes / 2 / (10.0 * ms), 1e-9);
}

TEST_F(NetworkLearningTest, HostsOfOneNameAreTimedAlone) {
    TreeSpec root;
    for (int rank = 0; rank < ranks_; ++rank) {
        root.children.emplace_back().rank = rank;
        root.children.back().name = "host";
    }
    learning_.begin(*Tree::make(root));
    EXPECT_EQ(next_advice(10 * ms).first, Advice::set_rate);
    EXPECT_FALSE(learning_.is_on());
}

TEST(AreAlike, RatesMayDifferByAQuarter) {
    const Tree tree = hosts(3, VertexKind::fabric_switch, 1);
    EXPECT_TRUE(are_alike(tree, hosts(3, VertexKind::fabric_switch, 1.2)));
    EXPECT_FALSE(are_alike(tree, hosts(3, VertexKind::fabric_switch, 1.3)));
    EXPECT_FALSE(are_alike(tree, hosts(3, VertexKind::fabric_switch, 0)));
    EXPECT_FALSE(are_alike(tree, hosts(3, VertexKind::group, 1)));
    EXPECT_FALSE(are_alike(tree, hosts(4, VertexKind::fabric_switch, 1)));
}

TEST(CallRates, CompareOneCallOfEachSizeThatBothKnow) {
    CallRates here;
    CallRates there;
    EXPECT_FALSE(here.slowness_to(there));
    here.add({1 << 20, true, 200});
    here.add({1 << 20, true, 300});
    here.add({1 << 22, true, 1});
    there.add({1 << 20, true, 100});
    there.add({1 << 20, false, 1});
    EXPECT_DOUBLE_EQ(*here.slowness_to(there), 2);
    EXPECT_TRUE(here.has({(1 << 20) + 5, true}));
    EXPECT_FALSE(here.has({1 << 20, false}));
    there.add_sizes_of(here);
    EXPECT_TRUE(there.has({1 << 22, true}));
    EXPECT_DOUBLE_EQ(*here.slowness_to(there), 201.0 / 101) << "times, not times of a byte";
}

/// Every rank comes last into one of the calls. One of them always ends before the others.
TEST(CallRates, OfCallsThatEndApartTheSlowestRankCounts) {
    const int ranks = size_of(MPI_COMM_WORLD);
    const int rank = rank_of(MPI_COMM_WORLD);
    const std::uint64_t takes_ns = rank == ranks - 1 ? 100 : 300;
    CallRates apart;
    CallRates together;
    for (int last = 0; last < ranks; ++last) {
        const std::uint64_t elapsed_ns = takes_ns + (rank == last ? 0 : 50);
        apart.add({1 << 20, true, elapsed_ns, true});
        together.add({1 << 20, true, elapsed_ns});
    }
    EXPECT_FALSE(apart.slowness_to(together));
    ASSERT_TRUE(apart.agree(MPI_COMM_WORLD).ok());
    ASSERT_TRUE(together.agree(MPI_COMM_WORLD).ok());
    CallRates once;
    once.add({1 << 20, true, ranks > 1 ? 300U : 100U, true});
    once.add({1 << 20, true, 100});
    EXPECT_DOUBLE_EQ(*apart.slowness_to(once), 1);
    EXPECT_DOUBLE_EQ(*together.slowness_to(once), 1);
}

}  // namespace
}  // namespace gradcoll::test
