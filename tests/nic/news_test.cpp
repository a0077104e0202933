// A rank that sleeps until its agent has news: neither sleeps through it, nor for ever.
#include "nic/shared_region.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace gradcoll {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

/// Ends are both ends of one memory.
struct Ends {
    Ends() {
        Descriptor file;
        agent = std::move(SharedRegion::make(NicShape::of(2), file)).value();
        rank = std::move(SharedRegion::map(NicShape::of(2), file)).value();
    }
    SharedRegion agent, rank;
};

TEST(News, ThatIsThereAlreadyIsNotWaitedFor) {
    const Ends ends;
    const std::uint32_t seen = news_of(ends.rank.layout());
    tell_news(ends.agent.layout());
    const auto begin = Clock::now();
    EXPECT_TRUE(wait_for_news(ends.rank.layout(), seen, microseconds(900'000)));
    EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(500));
}

TEST(News, ThatDoesNotComeEndsTheSleep) {
    const Ends ends;
    const auto begin = Clock::now();
    EXPECT_FALSE(
        wait_for_news(ends.rank.layout(), news_of(ends.rank.layout()), microseconds(2000)));
    EXPECT_GE(Clock::now() - begin, microseconds(2000));
    EXPECT_EQ(ends.agent.layout().rank().sleepers, 0U);
}

TEST(News, WakesAllThreadsThatSleep) {
    const Ends ends;
    std::atomic<int> woken{0};
    const std::uint32_t seen = news_of(ends.rank.layout());
    const auto sleep = [&] {
        woken += wait_for_news(ends.rank.layout(), seen, microseconds(900'000)) ? 1 : 0;
    };
    const auto begin = Clock::now();
    std::thread first(sleep), second(sleep);
    while (ends.agent.layout().rank().sleepers != 2 &&
           Clock::now() - begin < std::chrono::milliseconds(400))
        std::this_thread::yield();
    tell_news(ends.agent.layout());
    first.join();
    second.join();
    EXPECT_EQ(woken, 2);
    EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(800));
}

}  // namespace
}  // namespace gradcoll
