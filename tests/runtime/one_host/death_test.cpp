// A rank that dies: waits for it in the memory of one host end, and those of later calls at once.
#include <gtest/gtest.h>

#include <chrono>

#include "runtime/one_host/host.hpp"
#include "transport/told_watch.hpp"

namespace gradcoll {
namespace {

using test::Host;
using test::HostRank;
using test::small_choices;
using test::ToldWatch;

constexpr int ranks = 4;
constexpr int dead = 2;

OneHostCall call_of(const std::vector<float>& in, std::vector<float>& out) {
    return {in.data(), out.data(), in.size(), reducer_for(ReduceOp::sum, ElementType::f32), 7};
}

/// Returns whether the allreduce ended because a rank has died.
bool was_in_vain(HostRank& rank, std::size_t count) {
    const std::vector<float> in(count, 1);
    std::vector<float> out(count);
    try {
        return !rank.allreduce.run(call_of(in, out)).ok();
    } catch (const WaitedInVain&) {
        return true;
    }
}

TEST(OneHostDeath, EveryLengthEndsOnEveryRankAndLaterCallsAtOnce) {
    for (const std::size_t count : {1UL, 100UL, 700UL, 40'000UL}) {
        Host host(ranks, small_choices());
        host.run([&](HostRank& rank) {
            if (rank.rank == dead) return;
            ToldWatch watch;
            watch.die(dead);
            rank.group.heed(&watch);
            EXPECT_TRUE(was_in_vain(rank, count)) << count;
            EXPECT_TRUE(rank.group.has_waited_in_vain());
            const auto begin = std::chrono::steady_clock::now();
            EXPECT_TRUE(was_in_vain(rank, count)) << count;
            EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
        });
    }
}

TEST(OneHostDeath, WhatTheDeadRankHasGivenIsStillTaken) {
    Host host(ranks, small_choices());
    host.run([&](HostRank& rank) {
        const std::vector<float> in(10, 1);
        std::vector<float> out(10);
        ToldWatch watch(2'000'000'000);
        watch.die(dead);
        rank.group.heed(&watch);
        if (rank.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_TRUE(rank.allreduce.run(call_of(in, out)).ok());
        EXPECT_EQ(out, std::vector<float>(10, ranks));
    });
}

TEST(OneHostDeath, AStartedCallThatIsDroppedMakesRoomForTheNext) {
    Host host(ranks, small_choices());
    host.run([&](HostRank& rank) {
        if (rank.rank == dead) return;
        const std::vector<float> in(40'000, 1);
        std::vector<float> out(40'000);
        Startable& call = rank.allreduce.start(call_of(in, out));
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        while (std::chrono::steady_clock::now() < end) call.advance();
        EXPECT_FALSE(call.is_over());
        call.drop();
        Startable& next = rank.allreduce.start(call_of(in, out));
        EXPECT_FALSE(next.is_over());
        next.drop();
    });
}

}  // namespace
}  // namespace gradcoll
