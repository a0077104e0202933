// Ranks as threads over the loopback channel.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "runtime/scenario.hpp"
#include "support/loopback.hpp"

namespace gradcoll {

/// Calls body(channel) on a thread of its own for every rank and waits for all.
inline void on_all_ranks(LoopbackWorld& world, int ranks,
                         const std::function<void(Channel&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&world, &body, rank] { body(world.channel(rank)); });
    for (std::thread& thread : threads) thread.join();
}

/// Returns every rank's outcome of one allreduce.
inline std::vector<Outcome> allreduce(const Scenario& scenario, MakeInput input,
                                      LoopbackOptions options = {}) {
    const int ranks = scenario.rank_count();
    LoopbackWorld world(ranks, std::move(options));
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    on_all_ranks(world, ranks, [&](Channel& channel) {
        const auto executor = make_executor(scenario, channel);
        outcomes[static_cast<std::size_t>(channel.rank())] = run_once(*executor, input);
    });
    return outcomes;
}

inline void expect_all_equal(const std::vector<Outcome>& outcomes, const Floats& expected) {
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
        EXPECT_TRUE(outcomes[rank].status.ok()) << rank << ": " << outcomes[rank].status.message();
        EXPECT_EQ(outcomes[rank].output, expected) << "rank " << rank;
    }
}

}  // namespace gradcoll
