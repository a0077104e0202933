// The channel by NIC agents: the contract of channels, with an agent for each of two or three hosts
// that the ranks are dealt to; and what happens when agents end.
#include "nic/transport/nic_channel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "nic/transport/nic_wires.hpp"
#include "transport/channel_contract.hpp"
#include "transport/dealt_hosts.hpp"
#include "transport/process_world.hpp"

namespace gradcoll {
namespace {

template <int hosts>
struct NicWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const auto channel = channel_between(comm, DealtHosts(hosts));
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        body(**channel);
        MPI_Barrier(comm);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(TwoHosts, ChannelContract, NicWorld<2>);
INSTANTIATE_TYPED_TEST_SUITE_P(ThreeHosts, ChannelContract, NicWorld<3>);

/// Exchanges with a neighbour of another host both ways at once, this many messages of that size at
/// a time.
void exchange(Channel& channel, std::size_t size_bytes, std::uint32_t count, unsigned char first) {
    const auto lane = channel.open_lane(2 * count);
    std::vector<Bytes> out, in(count, Bytes(size_bytes));
    for (std::uint32_t i = 0; i < count; ++i)
        out.push_back(pattern(size_bytes, static_cast<unsigned>(channel.rank()) * 31 + i + first));
    for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 5, in[i].data(), size_bytes, i).ok());
    for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_TRUE(
            lane->start_send(next_of(channel), 5, out[i].data(), size_bytes, count + i).ok());
    for (const Completion& done : drain(*lane))
        EXPECT_TRUE(done.status.ok()) << done.status.message();
    for (std::uint32_t i = 0; i < count; ++i)
        EXPECT_EQ(in[i],
                  pattern(size_bytes, static_cast<unsigned>(previous_of(channel)) * 31 + i + first))
            << i;
}

TEST(NicChannel, MessagesOfAllLengthsArrive) {
    NicWorld<2>().run([](Channel& channel) {
        const std::size_t slot =
            NicShape::of(static_cast<std::uint32_t>(channel.rank_count())).slot_bytes;
        for (const std::size_t size :
             {std::size_t{1}, std::size_t{63}, slot - 1, slot, slot + 1, 2 * slot, 20 * slot + 7})
            exchange(channel, size, 3, 1);
    });
}

/// Messages go between rank 0 and the last, which are on two hosts. Several frames come unasked,
/// and find no receive; the one that meets them asks for the rest, or refuses it, and the next is
/// not disturbed.
TEST(NicChannel, LongMessagesThatComeBeforeTheirReceivesAreKeptOrRefused) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    NicWorld<2>().run([](Channel& channel) {
        const int last = channel.rank_count() - 1, other = last - channel.rank();
        const std::size_t slot = NicShape::of(static_cast<std::uint32_t>(last + 1)).slot_bytes;
        const auto lane = channel.open_lane(4), past = channel.open_lane(1);
        for (const std::size_t size : {3 * slot + 5, unasked_frames * slot, 11 * slot + 1}) {
            const Bytes out = pattern(size, 7), small = pattern(100, 8);
            Bytes in(size), small_in(100);
            if (channel.rank() == 0) {
                ASSERT_TRUE(past->start_send(other, 3, out.data(), size, 0).ok());
                past->abandon();
                ASSERT_TRUE(lane->start_send(other, 1, out.data(), size, 0).ok());
                ASSERT_TRUE(lane->start_send(other, 1, out.data(), size, 1).ok());
                ASSERT_TRUE(lane->start_send(other, 2, small.data(), 100, 2).ok());
            } else if (channel.rank() == last) {
                // What was sent last arrives behind all that comes unasked.
                ASSERT_TRUE(lane->start_recv(other, 2, small_in.data(), 100, 2).ok());
                EXPECT_TRUE(drain(*lane).at(0).status.ok());
                ASSERT_TRUE(lane->start_recv(other, 1, in.data(), size - 1, 0).ok());
                EXPECT_EQ(drain(*lane).at(0).status.code(), Code::corrupt);
                ASSERT_TRUE(lane->start_recv(other, 1, in.data(), size, 1).ok());
            }
            for (const Completion& done : drain(*lane))
                EXPECT_TRUE(done.status.ok()) << done.status.message();
            if (channel.rank() == last) {
                EXPECT_EQ(in, out);
                EXPECT_EQ(small_in, small);
            }
        }
    });
}

TEST(NicChannel, AgentsCarryWhatLeavesAHost) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const DealtHosts dealt(2);
    std::uint64_t before = 0;
    NicWorld<2>().run([&](Channel& channel) {
        MPI_Barrier(MPI_COMM_WORLD);
        before = status_of(dealt.host())["bytes_sent"].get<std::uint64_t>();
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(channel, 100'000, 4, 2);
        MPI_Barrier(MPI_COMM_WORLD);
        const auto after = status_of(dealt.host());
        EXPECT_GE(after["bytes_sent"].get<std::uint64_t>(), before + 400'000);
        EXPECT_EQ(after["groups"].size(), 1U);
        EXPECT_EQ(after["groups"][0]["links"], 1);
        EXPECT_EQ(after["bad_frames"], 0);
        EXPECT_EQ(after["bad_entries"], 0);
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

/// Rank 0 is late by a time in which whoever looks all the time looks some 100,000 times.
TEST(NicChannel, ARankThatWaitsSleepsUntilItsAgentHasNews) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    NicWorld<2>().run([&](Channel& channel) {
        const auto lane = channel.open_lane(2);
        EXPECT_FALSE(lane->rest(std::chrono::milliseconds(50))) << "nothing is waited for";
        const int last = channel.rank_count() - 1, other = last - channel.rank();
        if (channel.rank() != 0 && channel.rank() != last) return;
        Bytes in(5000);
        const Bytes out = pattern(in.size(), static_cast<unsigned>(channel.rank()));
        ASSERT_TRUE(lane->start_recv(other, 1, in.data(), in.size(), 0).ok());
        if (channel.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ASSERT_TRUE(lane->start_send(other, 1, out.data(), out.size(), 1).ok());
        int looks = 0;
        for (Completion done; lane->in_flight() > 0; ++looks) {
            const auto count = lane->poll({&done, 1});
            ASSERT_TRUE(count.ok()) << count.status().message();
            if (*count == 0) lane->rest(std::chrono::milliseconds(50));
        }
        EXPECT_LT(looks, 100);
        EXPECT_EQ(in, pattern(in.size(), static_cast<unsigned>(other)));
    });
}

/// This holds whichever agent is killed, and whenever in a row of exchanges.
TEST(NicChannel, MessagesGoOnDirectlyWhenAnAgentIsKilled) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    for (const int victim : {0, 1})
        for (const std::size_t size : {std::size_t{1000}, std::size_t{3'000'000}}) {
            const DealtHosts dealt(2);
            NicWorld<2>().run([&](Channel& channel) {
                exchange(channel, size, 4, 1);
                Victim(dealt, victim).signal(SIGKILL);
                for (unsigned char round = 2; round < 20; ++round)
                    exchange(channel, size, 4, round);
            });
        }
}

TEST(NicChannel, MessagesGoOnWhenAnAgentEndsWithFramesUnderWay) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const DealtHosts dealt(2);
    NicWorld<2>().run([&](Channel& channel) {
        // Stopped, the agent takes nothing; so frames are under way when it ends.
        exchange(channel, 1000, 1, 1);
        MPI_Barrier(MPI_COMM_WORLD);  // who waits for an agent that is stopped waits on
        const Victim victim(dealt, 0);
        victim.signal(SIGSTOP);
        const auto lane = channel.open_lane(16);
        std::vector<Bytes> in(8, Bytes(200'000)), out;
        for (std::uint32_t i = 0; i < 8; ++i)
            out.push_back(pattern(200'000, static_cast<unsigned>(channel.rank())));
        for (std::uint32_t i = 0; i < 8; ++i) {
            ASSERT_TRUE(lane->start_recv(previous_of(channel), 1, in[i].data(), 200'000, i).ok());
            ASSERT_TRUE(lane->start_send(next_of(channel), 1, out[i].data(), 200'000, 8 + i).ok());
        }
        std::vector<Completion> some(16);
        for (int i = 0; i < 1000; ++i) ASSERT_TRUE(lane->poll({some.data(), 0}).ok());
        MPI_Barrier(MPI_COMM_WORLD);
        victim.signal(SIGKILL);
        for (const Completion& done : drain(*lane)) EXPECT_TRUE(done.status.ok());
        for (const Bytes& each : in)
            EXPECT_EQ(each, pattern(200'000, static_cast<unsigned>(previous_of(channel))));
    });
}

/// The agent is stopped for good: nobody waits for it longer than nic_silence, on its host and on
/// others.
TEST(NicChannel, MessagesGoOnDirectlyWhenAnAgentHangs) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const DealtHosts dealt(2);
    NicWorld<2>().run([&](Channel& channel) {
        exchange(channel, 1000, 1, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        const Victim victim(dealt, 0);
        victim.signal(SIGSTOP);
        const auto begin = std::chrono::steady_clock::now();
        for (unsigned char round = 2; round < 10; ++round) exchange(channel, 300'000, 4, round);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 3 * nic_silence);
        MPI_Barrier(MPI_COMM_WORLD);
        victim.signal(SIGCONT);
        for (unsigned char round = 10; round < 20; ++round) exchange(channel, 300'000, 4, round);
        MPI_Barrier(MPI_COMM_WORLD);
        victim.signal(SIGKILL);
    });
}

/// A rank that was stopped itself has missed nothing.
TEST(AgentWatch, CountsLooksAndNotTime) {
    using std::chrono::milliseconds;
    AgentWatch watch;
    auto now = AgentWatch::Clock::now();
    EXPECT_TRUE(watch.look(1, now));
    EXPECT_TRUE(watch.look(1, now += std::chrono::hours(1)));
    EXPECT_TRUE(watch.look(2, now += milliseconds(1)));
    int looks = 0;
    while (watch.look(2, now += nic_silence / 10) && looks < 100) ++looks;
    EXPECT_GE(looks, 8);
    EXPECT_LE(looks, 10);
}

}  // namespace
}  // namespace gradcoll
