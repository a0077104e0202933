// A rank that dies: all others end with an error that names it, over messages.
#include <atomic>
#include <chrono>
#include <string>

#include "collectives/exchange/exchange.hpp"
#include "runtime/thread_ranks.hpp"
#include "transport/told_watch.hpp"

namespace gradcoll {
namespace {

using test::ToldWatch;

bool names(const Status& status, int rank) {
    return status.message().find("rank " + std::to_string(rank)) != std::string::npos;
}

/// Runs one operation on all ranks but `dead`, which never comes, and then another.
void expect_all_end(const Scenario& shape, int dead) {
    constexpr int ranks = 5;
    LoopbackWorld world(ranks);
    std::vector<Status> first(ranks);
    std::vector<Status> second(ranks);
    on_all_ranks(world, ranks, [&](Channel& channel) {
        if (channel.rank() == dead) return;
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto watch = std::make_shared<ToldWatch>();
        watch->die(dead);
        Scenario watched = shape;
        watched.options.peers = watch;
        const auto executor = make_executor(watched, channel);
        first[at] = run_once(*executor, sparse_input, 0).status;
        watch->look();
        const auto begin = std::chrono::steady_clock::now();
        second[at] = run_once(*executor, sparse_input, 1).status;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    });
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank == dead) continue;
        const auto at = static_cast<std::size_t>(rank);
        EXPECT_EQ(first[at].code(), Code::peer_died) << rank << ": " << first[at].message();
        EXPECT_TRUE(names(first[at], dead)) << rank << ": " << first[at].message();
        EXPECT_EQ(second[at].code(), Code::peer_died) << rank << ": " << second[at].message();
    }
}

TEST(Death, EveryRankEndsWithItsNameInEveryExchangeAndCodec) {
    for (const char* exchange : {"direct", "ring", "recursive"})
        for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4})
            for (int dead = 0; dead < 5; ++dead) {
                Scenario shape =
                    scenario("((0 1) (2 3 4))", 20'000, codec, exchange_named(exchange).value());
                shape.spec.chunk_elems = 4096;
                expect_all_end(shape, dead);
            }
}

TEST(Death, WhoIsLateAndAliveIsWaitedFor) {
    const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, CodecId::exact);
    LoopbackWorld world(5);
    std::vector<Outcome> outcomes(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        Scenario watched = shape;
        watched.options.peers = std::make_shared<ToldWatch>(0);
        const auto executor = make_executor(watched, channel);
        if (channel.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        outcomes[static_cast<std::size_t>(channel.rank())] = run_once(*executor, sparse_input);
    });
    expect_all_equal(outcomes, sum_of_all(sparse_input, 5, 20'000));
}

std::atomic<int> waits_for_70{0};

void hear_of_wait(int, std::uint64_t, std::uint64_t, const std::string& what) {
    if (what.find("from rank 70:") != std::string::npos) ++waits_for_70;
}

TEST(Death, WhoWaitsSaysForWhomAsTheJobCallsThem) {
    constexpr int in_job[] = {40, 70};
    const Scenario shape = scenario("(0 1)", 100, CodecId::exact);
    LoopbackWorld world(2);
    when_waits_are_long(hear_of_wait);
    on_all_ranks(world, 2, [&](Channel& channel) {
        Scenario watched = shape;
        watched.options.peers = std::make_shared<ToldWatch>(0);
        watched.options.in_job = in_job;
        const auto executor = make_executor(watched, channel);
        if (channel.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        EXPECT_TRUE(run_once(*executor, sparse_input).status.ok());
    });
    when_waits_are_long(nullptr);
    EXPECT_GT(waits_for_70, 0);
}

}  // namespace
}  // namespace gradcoll
