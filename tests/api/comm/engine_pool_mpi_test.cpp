// Communicators of the same processes share memory, at once or one after the other.
#include "api/comm/engine_pool.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "api/comm/identified_comm.hpp"

namespace gradcoll::test {
namespace {

using Engine = std::shared_ptr<OneHostEngine>;

/// The number makes it differ from others.
OneHostChoices choices_number(int ranks, std::size_t number) {
    OneHostChoices choices = OneHostChoices::fitting(ranks, 1 << 20);
    choices.stream_min_bytes += number;
    return choices;
}

Engine engine_of(IdentifiedComm& comm, std::size_t number = 0) {
    auto engine = engine_for(comm.identity(), choices_number(comm.identity().rank_count(), number));
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return std::move(engine).value();
}

int mapped_segments() {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
        if (line.find("memfd:gradcoll") != std::string::npos) ++count;
    return count;
}

TEST(EnginePool, SharesUnlessThreadsCouldMeet) {
    IdentifiedComm a, b;
    const Engine of_a = engine_of(a);
    const Engine of_b = engine_of(b);
    EXPECT_EQ(of_a == of_b, a.identity().no_rank_has_threads());
}

TEST(EnginePool, GivesAnUnusedEngineToTheNextCommunicator) {
    const OneHostEngine* before = nullptr;
    for (int i = 0; i < 20; ++i) {
        IdentifiedComm comm;
        const Engine engine = engine_of(comm);
        EXPECT_TRUE(before == nullptr || engine.get() == before);
        before = engine.get();
        const EngineComm in_engine = engine->add(comm.identity());
        EXPECT_EQ(in_engine.private_comm, comm.identity().private_comm());
        EXPECT_TRUE(engine->barrier(in_engine).ok());
    }
}

TEST(EnginePool, OtherRanksOrdersOrChoicesHaveTheirOwn) {
    IdentifiedComm all, reversed(0, -world_rank());
    const Engine engine = engine_of(all);
    EXPECT_NE(engine, engine_of(reversed));
    EXPECT_NE(engine, engine_of(all, 1));
}

TEST(EnginePool, CallsOnDifferentCommunicatorsAreAnErrorOnAllRanks) {
    IdentifiedComm a, b;
    const Engine engine = engine_of(a);
    const EngineComm in_a = engine->add(a.identity());
    const EngineComm in_b = engine->add(b.identity());
    EXPECT_EQ(engine->barrier(world_rank() == 0 ? in_a : in_b).code(), Code::invalid_argument);
    EXPECT_TRUE(engine->barrier(in_b).ok());
    EXPECT_TRUE(engine->barrier(in_a).ok());
}

TEST(EnginePool, KeepsFewThatNobodyUses) {
    IdentifiedComm comm;
    {
        std::vector<Engine> engines;
        for (std::size_t number = 0; number < most_idle_engines + 5; ++number)
            engines.push_back(engine_of(comm, 100 + number));
        EXPECT_GE(mapped_segments(), static_cast<int>(engines.size()));
    }
    EXPECT_LE(mapped_segments(), static_cast<int>(most_idle_engines));
    for (const std::size_t number : {std::size_t{0}, most_idle_engines + 4}) {
        const Engine engine = engine_of(comm, 100 + number);
        EXPECT_TRUE(engine->barrier(engine->add(comm.identity())).ok());
    }
}

TEST(EnginePool, WhatSomeRanksHaveDroppedIsMadeAnew) {
    IdentifiedComm all, others(world_rank() == 0 ? 1 : 0, 0);
    if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
    engine_of(all);  // unused from here on
    if (world_rank() != 0)
        for (std::size_t number = 0; number <= most_idle_engines; ++number)
            engine_of(others, 200 + number);
    const Engine engine = engine_of(all);
    EXPECT_TRUE(engine->barrier(engine->add(all.identity())).ok());
}

}  // namespace
}  // namespace gradcoll::test
