// The loopback channel: the contract with ranks as threads, and what only loopback can do.
#include "support/loopback.hpp"

#include <algorithm>
#include <functional>

#include "transport/channel_contract.hpp"

namespace gradcoll {
namespace {

template <int Ranks, std::size_t EagerBytes, int DelayPercent>
struct ThreadWorld {
    static bool threads_allowed() { return true; }
    static bool self_messages_checked() { return true; }

    void run(const std::function<void(Channel&)>& body) {
        LoopbackWorld world(Ranks,
                            {.eager_bytes = EagerBytes, .delay_probability = DelayPercent / 100.0});
        std::vector<std::thread> threads;
        for (int rank = 0; rank < Ranks; ++rank)
            threads.emplace_back([&, rank] { body(world.channel(rank)); });
        for (std::thread& thread : threads) thread.join();
    }
};

using Worlds = testing::Types<ThreadWorld<1, 0, 0>, ThreadWorld<2, 0, 0>, ThreadWorld<5, 1000, 0>,
                              ThreadWorld<3, 1000, 70>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Loopback, ChannelContract, Worlds);

TEST(Loopback, SendCompletesOnlyWhenItsBytesWereTaken) {
    LoopbackWorld world(2);
    const auto sender = world.channel(0).open_lane(1);
    const auto receiver = world.channel(1).open_lane(1);
    const int out = 5;
    int in = 0;
    Completion done[2];
    ASSERT_TRUE(sender->start_send(1, 0, &out, 4, 0).ok());
    EXPECT_EQ(*sender->poll(done), 0U);
    ASSERT_TRUE(receiver->start_recv(0, 0, &in, 4, 0).ok());
    EXPECT_EQ(*receiver->poll(done), 1U);
    EXPECT_EQ(*sender->poll(done), 1U);
    EXPECT_EQ(in, 5);
}

TEST(Loopback, DelaysReorderStreamsButNotTheirMessages) {
    LoopbackWorld world(1, {.delay_probability = 0.8, .seed = 3});
    const auto lane = world.channel(0).open_lane(40);
    std::vector<int> out(20), in(20, -1);
    for (int i = 0; i < 20; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[at] = i;
        ASSERT_TRUE(lane->start_send(0, i % 2, &out[at], 4, 100).ok());
        ASSERT_TRUE(lane->start_recv(0, i % 2, &in[at], 4, static_cast<std::uint32_t>(i)).ok());
    }
    std::vector<std::uint32_t> even, odd, all;
    for (const Completion& done : drain(*lane, 3)) {
        if (done.cookie == 100) continue;
        all.push_back(done.cookie);
        (done.cookie % 2 ? odd : even).push_back(done.cookie);
    }
    EXPECT_EQ(in, out);
    EXPECT_TRUE(std::is_sorted(even.begin(), even.end()));
    EXPECT_TRUE(std::is_sorted(odd.begin(), odd.end()));
    EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
}

TEST(Loopback, TamperSeesTheEnvelopeAndMayCutTheMessage) {
    LoopbackEnvelope seen;
    LoopbackWorld world(
        2, {.tamper = [&](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
            seen = envelope;
            bytes[0] = std::byte{9};
            return std::size_t{2};
        }});
    const auto sender = world.channel(0).open_lane(1);
    const auto receiver = world.channel(1).open_lane(1);
    const unsigned char out[] = {1, 2, 3};
    unsigned char in[3] = {};
    Completion done;
    ASSERT_TRUE(sender->start_send(1, 6, out, 3, 0).ok());
    ASSERT_TRUE(receiver->start_recv(0, 6, in, 3, 0).ok());
    ASSERT_EQ(*receiver->poll({&done, 1}), 1U);
    EXPECT_EQ(done.received_bytes, 2U);
    EXPECT_EQ(in[0], 9);
    EXPECT_EQ(seen.source, 0);
    EXPECT_EQ(seen.destination, 1);
    EXPECT_EQ(seen.tag, 6);
}

}  // namespace
}  // namespace gradcoll
