// When a wait is in vain, and what failures become of it.
#include "transport/peer_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "transport/told_watch.hpp"

namespace gradcoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::ToldWatch;

/// Turns idly until the wait is in vain, or for so long; returns whether it was.
bool is_in_vain_within(SlowWait& slow, PeerWatch* peers, milliseconds most) {
    const auto end = steady_clock::now() + most;
    while (steady_clock::now() < end)
        if (slow.is_in_vain(peers)) return true;
    return false;
}

TEST(SlowWait, ShortWaitsLookAtNobody) {
    ToldWatch watch;
    watch.die(1);
    SlowWait slow;
    EXPECT_FALSE(is_in_vain_within(slow, &watch, milliseconds(2)));
    EXPECT_EQ(watch.looks(), 0);
}

TEST(SlowWait, EndsWhenPatienceIsOverAndNotBefore) {
    ToldWatch watch(100'000'000);
    watch.die(1);
    SlowWait slow;
    EXPECT_FALSE(is_in_vain_within(slow, &watch, milliseconds(60)));
    EXPECT_TRUE(is_in_vain_within(slow, &watch, milliseconds(5000)));
}

TEST(SlowWait, WhatComesAfterADeathBeginsTheWaitAgain) {
    ToldWatch watch(50'000'000);
    watch.die(1);
    SlowWait slow;
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(is_in_vain_within(slow, &watch, milliseconds(20)));
        slow.goes_on();
    }
    EXPECT_TRUE(is_in_vain_within(slow, &watch, milliseconds(5000)));
}

TEST(SlowWait, NobodyDeadIsNeverInVain) {
    ToldWatch watch(0);
    SlowWait slow;
    EXPECT_FALSE(is_in_vain_within(slow, &watch, milliseconds(50)));
    EXPECT_GT(watch.looks(), 0);
    EXPECT_FALSE(is_in_vain_within(slow, nullptr, milliseconds(10)));
}

TEST(PeerWatch, NamesAllThatHaveDiedOnceEach) {
    ToldWatch watch;
    for (const int rank : {2, 2, 1}) {
        watch.die(rank);
        watch.look();
    }
    EXPECT_EQ(watch.fault().message(),
              "rank 2 has died; rank 1 has died; the communicator can only be freed");
    EXPECT_EQ(watch.dead_rank(), 2);
    EXPECT_TRUE(watch.knows_of(1) && watch.knows_of(2) && !watch.knows_of(3));
}

std::uint64_t longest_told_ns = 0;

TEST(SlowWait, WhoWaitsForLongSaysSoAgainAndAgain) {
    ToldWatch watch;
    SlowWait waits, rests;
    when_waits_are_long([](std::uint64_t since_ns, std::uint64_t now_ns) {
        longest_told_ns = std::max(longest_told_ns, now_ns - since_ns);
    });
    const auto turn_for = [&](SlowWait& slow, milliseconds time, bool is_wait) {
        for (const auto end = steady_clock::now() + time; steady_clock::now() < end;)
            EXPECT_FALSE(slow.is_in_vain_now(&watch, is_wait));
    };
    turn_for(rests, milliseconds(30), false);
    EXPECT_EQ(longest_told_ns, 0U) << "nobody waits";
    turn_for(waits, milliseconds(60), true);
    EXPECT_GE(longest_told_ns, 30'000'000U);
    longest_told_ns = 0;
    waits.goes_on();
    turn_for(waits, milliseconds(8), true);
    EXPECT_LT(longest_told_ns, 30'000'000U) << "that is another wait";
    when_waits_are_long(nullptr);
}

TEST(PeerWatch, FailuresThatMayFollowFromADeathAreTheDeath) {
    for (const Code code : {Code::peer_failed, Code::transport, Code::corrupt}) {
        ToldWatch watch;
        EXPECT_EQ(watch.judged({code, "as before"}).message(), "as before");
        watch.die(2);
        const Status judged = watch.judged({code, "as before"});
        EXPECT_EQ(judged.code(), Code::peer_died);
        EXPECT_NE(judged.message().find("rank 2 has died"), std::string::npos) << judged.message();
    }
    ToldWatch watch;
    watch.die(2);
    const Status of_mpi = watch.judged({Code::peer_died, "MPI_Irecv failed"});
    EXPECT_NE(of_mpi.message().find("rank 2 has died"), std::string::npos) << of_mpi.message();
    const Status known = watch.fault("in memory");
    EXPECT_EQ(watch.judged(known).message(), known.message());
    EXPECT_EQ(watch.judged({Code::invalid_buffer, "null"}).code(), Code::invalid_buffer);
}

}  // namespace
}  // namespace gradcoll
