// Communicators of the same processes share memory, one after the other.
#include "ways/one_host/host_memory_pool.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "comm/identified_comm.hpp"
#include "mpi/request.hpp"
#include "runtime/binding.hpp"

namespace gradcoll::test {
namespace {

/// Returns choices that the number makes differ from others.
OneHostChoices choices_number(int ranks, std::size_t number) {
    OneHostChoices choices = OneHostChoices::fitting(ranks, 1 << 20);
    choices.stream_min_bytes += number;
    return choices;
}

PooledHostMemory engine_of(IdentifiedComm& comm, std::size_t number = 0) {
    auto engine =
        host_memory_for(comm.identity(), choices_number(comm.identity().rank_count(), number));
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return std::move(engine).value();
}

Status pass_barrier(HostMemory& engine) {
    return engine.run(CallKind::barrier, {}, shape_of_bytes(0));
}

int mapped_segments() {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
        if (line.find("memfd:gradcoll") != std::string::npos) ++count;
    return count;
}

/// No call of the memory waits for the rank that dies.
TEST(HostMemoryPool, WhatADeadRankHadAPartInIsDropped) {
    const int before = mapped_segments();
    {
        IdentifiedComm comm;
        const PooledHostMemory engine = engine_of(comm, 50);
        EXPECT_TRUE(pass_barrier(*engine).ok());
        EXPECT_GT(mapped_segments(), before);
        comm.identity().watch()->note(0, "rank 0 has died");
    }
    EXPECT_EQ(mapped_segments(), before);
}

TEST(HostMemoryPool, CommunicatorsFollowEachOther) {
    std::uint64_t state = 0;
    for (int i = 0; i < 20; ++i) {
        IdentifiedComm comm;
        const PooledHostMemory engine = engine_of(comm);
        EXPECT_TRUE(i == 0 || engine->state() == state);
        EXPECT_TRUE(pass_barrier(*engine).ok());
        EXPECT_NE(engine->state(), state);
        state = engine->state();
    }
}

TEST(HostMemoryPool, ThoseAtOneTimeAndOtherRanksOrdersOrChoicesHaveTheirOwn) {
    IdentifiedComm all, more, reversed(0, -rank_of(MPI_COMM_WORLD));
    const PooledHostMemory engine = engine_of(all);
    EXPECT_NE(engine, engine_of(more));
    EXPECT_NE(engine, engine_of(reversed));
    EXPECT_NE(engine, engine_of(all, 1));
}

TEST(HostMemoryPool, KeepsFewThatNobodyUses) {
    IdentifiedComm comm;
    {
        std::vector<PooledHostMemory> engines;
        for (std::size_t number = 0; number < most_idle_engines + 5; ++number)
            engines.push_back(engine_of(comm, 100 + number));
        EXPECT_GE(mapped_segments(), static_cast<int>(engines.size()));
    }
    EXPECT_LE(mapped_segments(), static_cast<int>(most_idle_engines));
    for (const std::size_t number : {std::size_t{0}, most_idle_engines + 4})
        EXPECT_TRUE(pass_barrier(*engine_of(comm, 100 + number)).ok());
}

TEST(HostMemoryPool, WhatSomeRanksHaveDroppedIsMadeAnew) {
    IdentifiedComm all, others(rank_of(MPI_COMM_WORLD) == 0 ? 1 : 0, 0);
    if (size_of(MPI_COMM_WORLD) < 3) GTEST_SKIP() << "needs three ranks";
    engine_of(all);  // unused from here on
    if (rank_of(MPI_COMM_WORLD) != 0)
        for (std::size_t number = 0; number <= most_idle_engines; ++number)
            engine_of(others, 200 + number);
    EXPECT_TRUE(pass_barrier(*engine_of(all)).ok());
}

/// The givers of a short reduction wait for nobody: they cannot know that the root is not there.
TEST(HostMemoryPool, RanksThatMadeDifferentCallsDoNotHaveTheEngineAgain) {
    IdentifiedComm comm;
    const CallShape shape = classify(1, MPI_INT, MPI_SUM).shape;
    int mine = 1;
    Binding binding;
    binding.input = &mine;
    binding.reducer = shape.reducer;
    const std::uint64_t new_state = engine_of(comm, 301)->state();
    {
        const PooledHostMemory engine = engine_of(comm, 300);
        if (rank_of(MPI_COMM_WORLD) != 0) {
            EXPECT_TRUE(engine->run(CallKind::reduce, binding, shape).ok());
        }
    }
    const PooledHostMemory engine = engine_of(comm, 300);
    EXPECT_EQ(engine->state(), new_state);
    EXPECT_TRUE(pass_barrier(*engine).ok());
}

}  // namespace
}  // namespace gradcoll::test
