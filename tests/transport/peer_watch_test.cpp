// When a wait is in vain, and what failures become of it.
#include "transport/peer_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

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
        if (slow.is_in_vain(peers, [] { return std::string("for a test"); })) return true;
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
int ends_told = 0;

TEST(SlowWait, WhoWaitsForLongSaysSoAgainAndAgain) {
    ToldWatch watch;
    SlowWait waits, rests;
    watch.be_called("world", {});
    when_waits_are_long(
        [](int place, std::uint64_t since_ns, std::uint64_t now_ns, const std::string& what) {
            EXPECT_EQ(place, 0);
            ends_told += since_ns == 0 ? 1 : 0;
            EXPECT_EQ(what, since_ns == 0 ? "" : "for rank 3, communicator world");
            longest_told_ns = std::max(longest_told_ns, now_ns - since_ns);
        });
    const auto what = [] { return std::string("for rank 3"); };
    const auto turn_for = [&](SlowWait& slow, milliseconds time, bool is_wait) {
        for (const auto end = steady_clock::now() + time; steady_clock::now() < end;)
            EXPECT_FALSE(is_wait ? slow.is_in_vain_now(&watch, what)
                                 : slow.is_in_vain_now(&watch, nullptr));
    };
    turn_for(rests, milliseconds(30), false);
    EXPECT_EQ(longest_told_ns, 0U) << "nobody waits";
    turn_for(waits, milliseconds(200), true);
    EXPECT_GE(longest_told_ns, 30'000'000U);
    longest_told_ns = 0;
    waits.goes_on();
    turn_for(waits, milliseconds(8), true);
    EXPECT_LT(longest_told_ns, 30'000'000U) << "that is another wait";
    EXPECT_EQ(ends_told, 1);
    turn_for(waits, milliseconds(60), true);
    turn_for(waits, milliseconds(60), false);
    EXPECT_EQ(ends_told, 2) << "it waits for nobody any more";
    when_waits_are_long(nullptr);
}

TEST(SlowWait, SomeHavePlacesAtATimeAndGiveThemBack) {
    std::vector<WaitPlace> places(WaitPlace::count);
    for (WaitPlace& place : places) EXPECT_TRUE(place.take());
    WaitPlace late;
    EXPECT_FALSE(late.take());
    places[3] = {};
    EXPECT_TRUE(late.take());
    EXPECT_EQ(late.number(), 3);
    WaitPlace moved(std::move(late));
    EXPECT_TRUE(moved.is_taken());
    places.clear();
    EXPECT_TRUE(late.take());
    EXPECT_EQ(late.number(), 0);
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
