// What ranks have found out together holds for later communicators of the same processes.
#include "comm/known_processes.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/child_process.hpp"
#include "comm/comm_watch.hpp"
#include "comm/identified_comm.hpp"

namespace gradcoll::test {
namespace {

std::shared_ptr<const Tuning> some_tuning() {
    return std::make_shared<const Tuning>();
}

TEST(KnownProcesses, AreNumberedInTheOrderOfTheCommunicator) {
    IdentifiedComm reversed(0, -rank_of(MPI_COMM_WORLD));
    std::vector<int> expected;
    for (int rank = size_of(MPI_COMM_WORLD) - 1; rank >= 0; --rank) expected.push_back(rank);
    EXPECT_EQ(reversed.identity().world_ranks(), expected);
}

TEST(KnownProcesses, LaterCommunicatorsHaveTheFacts) {
    IdentifiedComm first, second, reversed(0, -rank_of(MPI_COMM_WORLD));
    EXPECT_EQ(first.identity().known(), nullptr);
    const auto tuning = some_tuning();
    first.identity().remember_agreed(tuning, true);
    ASSERT_NE(second.identity().known(), nullptr);
    EXPECT_EQ(second.identity().known()->tuning, tuning);
    EXPECT_TRUE(second.identity().known()->loss_in_doubt);
    EXPECT_EQ(second.identity().is_one_host(), first.identity().is_one_host());
    EXPECT_EQ(second.identity().yields(), first.identity().yields());
    EXPECT_EQ(reversed.identity().known(), nullptr);
}

TEST(KnownProcesses, AreUnknownIfOneOfThemHasForgotten) {
    constexpr int ranks_of_half = 2;
    if (size_of(MPI_COMM_WORLD) < ranks_of_half + 1) GTEST_SKIP() << "needs three ranks";
    IdentifiedComm half(rank_of(MPI_COMM_WORLD) < ranks_of_half ? 0 : 1, 0);
    IdentifiedComm again(rank_of(MPI_COMM_WORLD) < ranks_of_half ? 0 : 1, 0);
    const CommIdentity& identity = half.identity();
    if (rank_of(MPI_COMM_WORLD) != 0) identity.remember_agreed(some_tuning(), false);
    EXPECT_EQ(again.identity().known() != nullptr, rank_of(MPI_COMM_WORLD) >= ranks_of_half);
    EXPECT_EQ(again.identity().is_one_host(), half.identity().is_one_host());
}

/// Waits are told of with the same numbers.
TEST(CommWatch, NamesWhoHasDiedAsTheJobDoes) {
    const Child child;
    IdentifiedComm comm;
    CommWatch watch(comm.identity().private_comm(), 0, {this_process_name(), child.name});
    if (!watch.sees_all()) GTEST_SKIP() << "no pidfd here";
    watch.be_called("pair", {4, 7});
    watch.look();
    EXPECT_FALSE(watch.has_fault());
    kill(child.number, SIGKILL);
    while (!watch.has_died(1)) usleep(1000);
    watch.look();
    EXPECT_EQ(watch.dead_rank(), 1);
    EXPECT_EQ(watch.fault().message().rfind("rank 7 has died; ", 0), 0U) << watch.fault().message();
}

/// Fails with four ranks on fewer than four cores if a communicator counts only its own ranks.
TEST(Yielding, IsAlikeOnCommunicatorsOfFewAndOfAllRanksOfTheJob) {
    IdentifiedComm pairs(rank_of(MPI_COMM_WORLD) / 2, 0), all;
    const bool pair_yields = pairs.identity().yields();
    EXPECT_EQ(pair_yields, all.identity().yields());
    EXPECT_EQ(pairs.identity().patience(), all.identity().patience());
}

}  // namespace
}  // namespace gradcoll::test
