// What every Channel must keep. A World brings ranks to life: run(body) calls body(channel) once
// for every rank, and returns when all have returned. All tests are written from the view of one
// rank.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "transport/channel.hpp"

namespace gradcoll {

using Bytes = std::vector<unsigned char>;

inline int next_of(const Channel& channel) {
    return (channel.rank() + 1) % channel.rank_count();
}
inline int previous_of(const Channel& channel) {
    return (channel.rank() + channel.rank_count() - 1) % channel.rank_count();
}

/// Polls until nothing is in flight, and returns what came in, in order. Gives up (and fails) after
/// a generous while.
inline std::vector<Completion> drain(Lane& lane, std::size_t room = 16) {
    std::vector<Completion> all;
    std::vector<Completion> some(room);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (lane.in_flight() > 0) {
        const Result<std::size_t> count = lane.poll(some);
        if (!count.ok()) {
            ADD_FAILURE() << count.status().message();
            return all;
        }
        all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*count));
        if (std::chrono::steady_clock::now() > deadline) {
            ADD_FAILURE() << lane.in_flight() << " messages never completed";
            return all;
        }
        if (*count == 0) std::this_thread::yield();
    }
    return all;
}

inline const Completion* find_cookie(const std::vector<Completion>& all, std::uint32_t cookie) {
    for (const Completion& completion : all)
        if (completion.cookie == cookie) return &completion;
    return nullptr;
}

inline Bytes pattern(std::size_t size, unsigned seed) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + seed);
    return bytes;
}

template <class World>
class ChannelContract : public testing::Test {
  protected:
    World world_;
};
TYPED_TEST_SUITE_P(ChannelContract);

TYPED_TEST_P(ChannelContract, BytesArriveUnchangedFromEveryRankToEveryRank) {
    this->world_.run([](Channel& channel) {
        const auto ranks = static_cast<std::size_t>(channel.rank_count());
        const auto lane = channel.open_lane(2 * ranks);
        std::vector<Bytes> out(ranks), in(ranks, Bytes(100'000));
        for (std::size_t peer = 0; peer < ranks; ++peer) {
            const int rank = static_cast<int>(peer);
            out[peer] = pattern(100'000, static_cast<unsigned>(channel.rank()) * 31 + rank);
            ASSERT_TRUE(lane->start_recv(rank, 5, in[peer].data(), in[peer].size(), rank).ok());
            ASSERT_TRUE(
                lane->start_send(rank, 5, out[peer].data(), out[peer].size(), 1000 + rank).ok());
        }
        const auto done = drain(*lane);
        EXPECT_EQ(done.size(), 2 * ranks);
        for (std::size_t peer = 0; peer < ranks; ++peer)
            EXPECT_EQ(in[peer],
                      pattern(100'000, static_cast<unsigned>(peer) * 31 + channel.rank()));
    });
}

TYPED_TEST_P(ChannelContract, MessagesOfOnePairAndTagArriveInOrderOfTheirStarts) {
    this->world_.run([](Channel& channel) {
        constexpr std::uint32_t count = 50;
        const auto lane = channel.open_lane(2 * count);
        std::vector<std::uint32_t> out(count), in(count, ~0U);
        std::iota(out.begin(), out.end(), 0U);
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(lane->start_send(next_of(channel), 3, &out[i], 4, count + i).ok());
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(lane->start_recv(previous_of(channel), 3, &in[i], 4, i).ok());
        drain(*lane);
        EXPECT_EQ(in, out);
    });
}

TYPED_TEST_P(ChannelContract, TagsAreSeparateStreams) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(4);
        const int limit = channel.tag_limit();
        const int out[] = {10, 20};
        int in[] = {0, 0};
        ASSERT_TRUE(lane->start_recv(previous_of(channel), limit, &in[1], 4, 0).ok());
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 0, &in[0], 4, 1).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), 0, &out[0], 4, 2).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), limit, &out[1], 4, 3).ok());
        drain(*lane);
        EXPECT_EQ(in[0], 10);
        EXPECT_EQ(in[1], 20);
    });
}

TYPED_TEST_P(ChannelContract, ShorterMessageTellsItsSize) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(2);
        const Bytes out = pattern(300, 1);
        Bytes in(1000);
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 0, in.data(), in.size(), 7).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), 0, out.data(), out.size(), 8).ok());
        const auto done = drain(*lane);
        const Completion* received = find_cookie(done, 7);
        ASSERT_NE(received, nullptr);
        EXPECT_TRUE(received->status.ok()) << received->status.message();
        EXPECT_EQ(received->received_bytes, 300U);
    });
}

TYPED_TEST_P(ChannelContract, LongerMessageIsAnErrorThatNamesPeerTagAndSize) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(2);
        const Bytes out = pattern(300, 1);
        Bytes in(150, 0xEE);
        if (next_of(channel) == channel.rank() && !TypeParam::self_messages_checked())
            GTEST_SKIP() << "the transport cuts a message to oneself silently";
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 9, in.data(), 100, 7).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), 9, out.data(), out.size(), 8).ok());
        const auto done = drain(*lane);
        const Completion* received = find_cookie(done, 7);
        ASSERT_NE(received, nullptr);
        EXPECT_EQ(received->status.code(), Code::corrupt);
        const std::string& text = received->status.message();
        EXPECT_NE(text.find("rank " + std::to_string(previous_of(channel))), std::string::npos)
            << text;
        EXPECT_NE(text.find("tag 9"), std::string::npos) << text;
        EXPECT_NE(text.find("100 bytes"), std::string::npos) << text;
        EXPECT_EQ(in[100], 0xEE) << "bytes behind the buffer were written";
    });
}

TYPED_TEST_P(ChannelContract, EmptyMessagesCompleteOnBothSides) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(2);
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 0, nullptr, 0, 1).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), 0, nullptr, 0, 2).ok());
        const auto done = drain(*lane);
        ASSERT_EQ(done.size(), 2U);
        EXPECT_EQ(find_cookie(done, 1)->received_bytes, 0U);
    });
}

TYPED_TEST_P(ChannelContract, AllCompletionsComeThroughASpanOfOne) {
    this->world_.run([](Channel& channel) {
        constexpr std::uint32_t count = 20;
        const auto lane = channel.open_lane(2 * count);
        std::vector<std::uint32_t> out(count, 4), in(count);
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(
                lane->start_recv(previous_of(channel), static_cast<int>(i), &in[i], 4, i).ok());
        for (std::uint32_t i = count; i-- > 0;)
            ASSERT_TRUE(
                lane->start_send(next_of(channel), static_cast<int>(i), &out[i], 4, count + i)
                    .ok());
        const auto done = drain(*lane, 1);
        for (std::uint32_t cookie = 0; cookie < 2 * count; ++cookie)
            EXPECT_NE(find_cookie(done, cookie), nullptr) << cookie;
        EXPECT_EQ(done.size(), 2 * count);
    });
}

TYPED_TEST_P(ChannelContract, OneMessageMoreThanTheCapacityIsRefusedWithTheNumber) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(1);
        int in = 0;
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 0, &in, 4, 0).ok());
        const Status second = lane->start_recv(previous_of(channel), 1, &in, 4, 1);
        EXPECT_EQ(second.code(), Code::internal);
        EXPECT_NE(second.message().find('1'), std::string::npos) << second.message();
        lane->abandon();
    });
}

TYPED_TEST_P(ChannelContract, UnknownPeerAndTagAreRefusedByName) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(1);
        int value = 0;
        const Status peer = lane->start_send(channel.rank_count(), 0, &value, 4, 0);
        EXPECT_EQ(peer.code(), Code::invalid_argument);
        EXPECT_NE(peer.message().find("peer"), std::string::npos);
        const Status tag = lane->start_recv(0, -1, &value, 4, 0);
        EXPECT_EQ(tag.code(), Code::invalid_argument);
        EXPECT_NE(tag.message().find("tag"), std::string::npos);
        EXPECT_EQ(lane->in_flight(), 0U);
    });
}

TYPED_TEST_P(ChannelContract, AbandonedReceivesAreNotWrittenAndTheLaneCanBeUsedAgain) {
    this->world_.run([](Channel& channel) {
        const auto lane = channel.open_lane(2);
        int lost = -1, in = -1;
        const int out = 42;
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 1, &lost, 4, 0).ok());
        lane->abandon();
        EXPECT_EQ(lane->in_flight(), 0U);
        ASSERT_TRUE(lane->start_recv(previous_of(channel), 2, &in, 4, 0).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), 2, &out, 4, 1).ok());
        drain(*lane);
        EXPECT_EQ(in, 42);
        EXPECT_EQ(lost, -1);
    });
}

/// Does one thread's traffic: a token goes to the neighbour `rounds` times on the thread's own tag.
inline void exchange_rounds(Channel& channel, int tag, int rounds) {
    const auto lane = channel.open_lane(2);
    for (int round = 0; round < rounds; ++round) {
        const std::array<int, 2> out = {tag, round};
        std::array<int, 2> in = {-1, -1};
        ASSERT_TRUE(lane->start_recv(previous_of(channel), tag, in.data(), sizeof in, 0).ok());
        ASSERT_TRUE(lane->start_send(next_of(channel), tag, out.data(), sizeof out, 1).ok());
        drain(*lane);
        ASSERT_EQ(in, out);
    }
}

TYPED_TEST_P(ChannelContract, LanesOfTwoThreadsDoNotMix) {
    if (!TypeParam::threads_allowed()) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
    this->world_.run([](Channel& channel) {
        std::thread other([&] { exchange_rounds(channel, 11, 100); });
        exchange_rounds(channel, 12, 100);
        other.join();
    });
}

REGISTER_TYPED_TEST_SUITE_P(ChannelContract, BytesArriveUnchangedFromEveryRankToEveryRank,
                            MessagesOfOnePairAndTagArriveInOrderOfTheirStarts,
                            TagsAreSeparateStreams, ShorterMessageTellsItsSize,
                            LongerMessageIsAnErrorThatNamesPeerTagAndSize,
                            EmptyMessagesCompleteOnBothSides, AllCompletionsComeThroughASpanOfOne,
                            OneMessageMoreThanTheCapacityIsRefusedWithTheNumber,
                            UnknownPeerAndTagAreRefusedByName,
                            AbandonedReceivesAreNotWrittenAndTheLaneCanBeUsedAgain,
                            LanesOfTwoThreadsDoNotMix);

}  // namespace gradcoll
