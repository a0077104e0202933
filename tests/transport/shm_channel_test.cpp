// The shared-memory channel: the contract with ranks as threads over plain memory, and what peers
// that write nonsense can do to it.
#include "transport/shm/shm_channel.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <random>

#include "transport/channel_contract.hpp"

namespace gradcoll {
namespace {

enum class Reading { never, permitted, forbidden };

ssize_t forbid(pid_t, std::uint64_t, void*, std::size_t) {
    return -EPERM;
}

/// ThreadRanks are ranks that share an area of this process.
class ThreadRanks {
  public:
    ThreadRanks(int ranks, std::size_t cells_bytes, Reading reading)
        : ranks_(ranks),
          bytes_a_rank_(ShmLayout::bytes_a_rank_for(ranks, cells_bytes)),
          memory_(static_cast<std::byte*>(
              std::aligned_alloc(4096, bytes_a_rank_ * static_cast<std::size_t>(ranks)))) {
        std::fill_n(memory_, bytes_a_rank_ * static_cast<std::size_t>(ranks), std::byte{0});
        PeerMemory memory;
        if (reading != Reading::never)
            memory.processes.assign(static_cast<std::size_t>(ranks), getpid());
        memory.least_bytes = 50'000;
        if (reading == Reading::forbidden) memory.read = forbid;
        for (int rank = 0; rank < ranks; ++rank)
            traffics_.push_back(
                ShmTraffic::make({memory_, bytes_a_rank_, rank, ranks}, {}, memory).value());
        channels_ = channels_of(0);
    }
    ~ThreadRanks() {
        channels_.clear();
        traffics_.clear();
        std::free(memory_);
    }
    ThreadRanks(const ThreadRanks&) = delete;
    ThreadRanks& operator=(const ThreadRanks&) = delete;

    Channel& channel(int rank) { return *channels_[static_cast<std::size_t>(rank)]; }
    ShmTraffic& traffic(int rank) { return *traffics_[static_cast<std::size_t>(rank)]; }
    /// Returns one channel for each rank, in the same memory.
    std::vector<std::unique_ptr<ShmChannel>> channels_of(std::uint16_t group) const {
        std::vector<std::unique_ptr<ShmChannel>> channels;
        for (const auto& traffic : traffics_)
            channels.push_back(std::make_unique<ShmChannel>(traffic, group));
        return channels;
    }
    ShmLayout layout() const { return *ShmLayout::make(memory_, ranks_, bytes_a_rank_); }

    void run(const std::function<void(Channel&)>& body) {
        std::vector<std::thread> threads;
        for (auto& channel : channels_) threads.emplace_back([&] { body(*channel); });
        for (std::thread& thread : threads) thread.join();
    }

  private:
    int ranks_;
    std::size_t bytes_a_rank_;
    std::byte* memory_;
    std::vector<std::shared_ptr<ShmTraffic>> traffics_;
    std::vector<std::unique_ptr<ShmChannel>> channels_;
};

template <int Ranks, std::size_t CellsBytes, Reading How>
struct ThreadWorld : ThreadRanks {
    ThreadWorld() : ThreadRanks(Ranks, CellsBytes, How) {}
    static bool threads_allowed() { return true; }
    static bool self_messages_checked() { return true; }
};

constexpr std::size_t little = 64 * 256;
constexpr std::size_t much = 64 * 32768;
using Worlds =
    testing::Types<ThreadWorld<1, much, Reading::never>, ThreadWorld<2, little, Reading::never>,
                   ThreadWorld<3, much, Reading::permitted>,
                   ThreadWorld<4, little, Reading::forbidden>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Shm, ChannelContract, Worlds);

/// Does one rank's traffic with all others: many sizes, tags in an order that differs on both
/// sides.
void exchange_at_random(Channel& channel, unsigned seed) {
    constexpr std::size_t messages = 30;
    const auto ranks = static_cast<std::size_t>(channel.rank_count());
    const auto size_of = [&](std::size_t from, std::size_t to, std::size_t message) {
        std::mt19937 random(static_cast<unsigned>(seed + from * 1009 + to * 9176 + message * 77));
        constexpr std::size_t sizes[] = {0, 1, 48, 49, 256, 257, 3000, 40'000, 70'000, 300'000};
        return sizes[random() % std::size(sizes)];
    };
    const auto me = static_cast<std::size_t>(channel.rank());
    const auto lane = channel.open_lane(2 * ranks * messages);
    std::vector<Bytes> out(ranks * messages), in(ranks * messages);
    std::vector<std::size_t> order(2 * ranks * messages);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(seed + me)));
    for (const std::size_t which : order) {
        const std::size_t at = which / 2, peer = at / messages, message = at % messages;
        const auto tag = static_cast<int>(message), rank = static_cast<int>(peer);
        if (which % 2 == 0) {
            out[at] = pattern(size_of(me, peer, message), static_cast<unsigned>(me + message));
            ASSERT_TRUE(lane->start_send(rank, tag, out[at].data(), out[at].size(), 0).ok());
        } else {
            in[at].resize(size_of(peer, me, message) + 5);
            ASSERT_TRUE(lane->start_recv(rank, tag, in[at].data(), in[at].size(),
                                         static_cast<std::uint32_t>(at + 1))
                            .ok());
        }
    }
    for (const Completion& done : drain(*lane)) {
        ASSERT_TRUE(done.status.ok()) << done.status.message();
        if (done.cookie == 0) continue;
        const std::size_t at = done.cookie - 1, peer = at / messages, message = at % messages;
        ASSERT_EQ(done.received_bytes, size_of(peer, me, message));
        in[at].resize(done.received_bytes);
        ASSERT_EQ(in[at], pattern(in[at].size(), static_cast<unsigned>(peer + message)));
    }
}

TEST(Shm, MessagesOfAllSizesMeetTheirReceivesInAnyOrderThroughLittleMemory) {
    ThreadRanks ranks(3, little, Reading::never);
    ranks.run([](Channel& channel) { exchange_at_random(channel, 1); });
}

TEST(Shm, MessagesOfAllSizesMeetTheirReceivesInAnyOrderWhenLargeOnesAreRead) {
    ThreadRanks ranks(3, little, Reading::permitted);
    ranks.run([](Channel& channel) { exchange_at_random(channel, 2); });
}

TEST(Shm, NoMessageIsLostWhenReadingTurnsOutToBeForbidden) {
    ThreadRanks ranks(3, much, Reading::forbidden);
    ranks.run([](Channel& channel) { exchange_at_random(channel, 3); });
}

TEST(Shm, TwoThreadsOfARankCarryLargeMessagesAtOnce) {
    ThreadRanks ranks(2, little, Reading::never);
    ranks.run([](Channel& channel) {
        const auto traffic = [&](int tag) {
            const auto lane = channel.open_lane(2);
            const Bytes out = pattern(200'000, static_cast<unsigned>(tag));
            Bytes in(200'000);
            ASSERT_TRUE(lane->start_send(next_of(channel), tag, out.data(), out.size(), 0).ok());
            ASSERT_TRUE(lane->start_recv(previous_of(channel), tag, in.data(), in.size(), 1).ok());
            drain(*lane);
            EXPECT_EQ(in, out);
        };
        std::thread other([&] { traffic(1); });
        traffic(2);
        other.join();
    });
}

TEST(Shm, ShortRingsOfManyRanksCarryEverything) {
    ThreadRanks ranks(33, little, Reading::never);
    ASSERT_EQ(ranks.layout().slots(), 3);
    ranks.run([](Channel& channel) {
        const auto lane = channel.open_lane(20);
        const Bytes out = pattern(20'000, 1);
        std::vector<Bytes> in(10, Bytes(20'000));
        for (int tag = 0; tag < 10; ++tag) {
            Bytes& to = in[static_cast<std::size_t>(tag)];
            ASSERT_TRUE(lane->start_recv(previous_of(channel), tag, to.data(), to.size(), 0).ok());
            ASSERT_TRUE(lane->start_send(next_of(channel), tag, out.data(), out.size(), 1).ok());
        }
        drain(*lane);
        for (const Bytes& bytes : in) EXPECT_EQ(bytes, out);
    });
}

TEST(Shm, UnaskedMessagesDoNotStopOneThatIsAskedFor) {
    ThreadRanks ranks(2, little, Reading::never);
    const auto sender = ranks.channel(0).open_lane(501);
    const auto receiver = ranks.channel(1).open_lane(1);
    const Bytes unasked = pattern(700, 1), asked = pattern(9000, 2);
    Bytes in(9000);
    for (int i = 0; i < 500; ++i)
        ASSERT_TRUE(sender->start_send(1, i, unasked.data(), i % 2 ? 4 : 700, 0).ok());
    ASSERT_TRUE(sender->start_send(1, 500, asked.data(), asked.size(), 1).ok());
    ASSERT_TRUE(receiver->start_recv(0, 500, in.data(), in.size(), 0).ok());
    std::vector<Completion> some(16);
    for (int turn = 0; turn < 10'000 && receiver->in_flight() > 0; ++turn) {
        ASSERT_TRUE(sender->poll(some).ok());
        ASSERT_TRUE(receiver->poll(some).ok());
    }
    EXPECT_EQ(receiver->in_flight(), 0U);
    EXPECT_EQ(in, asked);
    EXPECT_GT(sender->in_flight(), 300U) << "messages that nobody asks for are bounded";
}

TEST(Shm, MessageWhoseSenderGivesUpIsAnErrorOfItsReceive) {
    ThreadRanks ranks(2, little, Reading::never);
    const auto sender = ranks.channel(0).open_lane(1);
    const auto receiver = ranks.channel(1).open_lane(1);
    const Bytes out = pattern(100'000, 1);
    Bytes in(100'000);
    ASSERT_TRUE(sender->start_send(1, 0, out.data(), out.size(), 0).ok());
    ASSERT_TRUE(receiver->start_recv(0, 0, in.data(), in.size(), 0).ok());
    Completion done;
    ASSERT_EQ(*receiver->poll({&done, 1}), 0U);
    sender->abandon();
    ASSERT_EQ(*receiver->poll({&done, 1}), 1U);
    EXPECT_EQ(done.status.code(), Code::transport);
    EXPECT_NE(done.status.message().find("rank 0"), std::string::npos) << done.status.message();
}

TEST(Shm, BytesReadWhileTheirSenderGaveUpAreNotDelivered) {
    ThreadRanks ranks(2, much, Reading::permitted);
    const auto sender = ranks.channel(0).open_lane(1);
    const auto receiver = ranks.channel(1).open_lane(1);
    const Bytes out = pattern(900'000, 1);
    Bytes in(900'000);
    ASSERT_TRUE(sender->start_send(1, 0, out.data(), out.size(), 0).ok());
    ASSERT_TRUE(receiver->start_recv(0, 0, in.data(), in.size(), 0).ok());
    Completion done;
    ASSERT_EQ(*receiver->poll({&done, 1}), 0U) << "the first piece was read";
    sender->abandon();
    std::size_t count = 0;
    for (int turn = 0; turn < 5 && count == 0; ++turn) count = *receiver->poll({&done, 1});
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(done.status.code(), Code::transport);
}

TEST(Shm, AbandonedReceiveIsNotWrittenByThePiecesStillUnderWay) {
    ThreadRanks ranks(2, little, Reading::never);
    const auto sender = ranks.channel(0).open_lane(1);
    const auto receiver = ranks.channel(1).open_lane(1);
    const Bytes out = pattern(100'000, 1);
    Bytes in(100'000);
    Completion done;
    ASSERT_TRUE(receiver->start_recv(0, 0, in.data(), in.size(), 0).ok());
    ASSERT_TRUE(sender->start_send(1, 0, out.data(), out.size(), 0).ok());
    ASSERT_TRUE(receiver->poll({&done, 1}).ok());
    ASSERT_TRUE(sender->poll({&done, 1}).ok());
    receiver->abandon();
    const Bytes before = in;
    int token = 7, got = 0;
    ASSERT_TRUE(receiver->start_recv(0, 1, &got, 4, 0).ok());
    for (int turn = 0; turn < 5 && sender->in_flight() > 0; ++turn) {
        ASSERT_TRUE(sender->poll({&done, 1}).ok());
        ASSERT_TRUE(receiver->poll({&done, 1}).ok());
    }
    EXPECT_EQ(sender->in_flight(), 0U) << "the sender is told";
    ASSERT_TRUE(sender->start_send(1, 1, &token, 4, 0).ok());
    ASSERT_EQ(*receiver->poll({&done, 1}), 1U);
    EXPECT_EQ(got, 7);
    EXPECT_EQ(in, before);
}

// ---- several channels in one memory

TEST(ShmBeside, EqualTagsOfTwoChannelsDoNotMeet) {
    ThreadRanks ranks(2, little, Reading::never);
    const auto second = ranks.channels_of(65'535);
    for (const std::size_t size : {std::size_t{4}, std::size_t{700}, std::size_t{100'000}}) {
        const auto first_sends = ranks.channel(0).open_lane(1), sends = second[0]->open_lane(1);
        const auto first_gets = ranks.channel(1).open_lane(1), gets = second[1]->open_lane(1);
        const Bytes of_first = pattern(size, 1), of_second = pattern(size, 2);
        Bytes in_first(size), in_second(size);
        ASSERT_TRUE(first_sends->start_send(1, 7, of_first.data(), size, 0).ok());
        ASSERT_TRUE(sends->start_send(1, 7, of_second.data(), size, 0).ok());
        ASSERT_TRUE(gets->start_recv(0, 7, in_second.data(), size, 0).ok());
        std::thread other([&, &lane = *sends] { drain(lane); });
        drain(*gets);
        other.join();
        ASSERT_TRUE(first_gets->start_recv(0, 7, in_first.data(), size, 0).ok());
        std::thread another([&, &lane = *first_sends] { drain(lane); });
        drain(*first_gets);
        another.join();
        EXPECT_EQ(in_first, of_first);
        EXPECT_EQ(in_second, of_second);
    }
}

TEST(ShmBeside, ManyThreadsHaveAChannelEach) {
    ThreadRanks ranks(3, little, Reading::permitted);
    std::vector<std::vector<std::unique_ptr<ShmChannel>>> channels;
    for (std::uint16_t group = 1; group <= 4; ++group) channels.push_back(ranks.channels_of(group));
    std::vector<std::thread> threads;
    for (auto& of_group : channels)
        for (auto& channel : of_group)
            threads.emplace_back([&] { exchange_at_random(*channel, 5); });
    for (std::thread& thread : threads) thread.join();
}

/// More messages come than may wait for their receives in an open channel; their senders are told,
/// and cells are free again.
TEST(ShmBeside, WhatComesForAChannelThatIsClosedIsDropped) {
    ThreadRanks ranks(2, little, Reading::never);
    auto closed = ranks.channels_of(1);
    const Bytes out = pattern(100'000, 3);
    const auto send_many = [&](Lane& lane, int messages) {
        constexpr std::size_t sizes[] = {0, 4, 48, 700, 3000, 100'000};
        for (int i = 0; i < messages; ++i)
            ASSERT_TRUE(lane.start_send(1, i % 5, out.data(), sizes[i % 6], 0).ok());
    };
    const auto receiver = ranks.channel(1).open_lane(1);
    Bytes in(4);
    std::vector<Completion> some(64);
    const auto early = closed[0]->open_lane(600);
    send_many(*early, 600);
    ASSERT_TRUE(receiver->start_recv(0, 0, in.data(), 4, 0).ok());
    for (int turn = 0; turn < 100; ++turn) {
        ASSERT_TRUE(early->poll(some).ok());
        ASSERT_TRUE(receiver->poll(some).ok());
    }
    EXPECT_GT(early->in_flight(), 0U) << "these wait for their receives";
    closed[1].reset();
    const auto late = closed[0]->open_lane(20'000);
    send_many(*late, 20'000);
    for (int turn = 0; turn < 100'000 && late->in_flight() + early->in_flight() > 0; ++turn) {
        ASSERT_TRUE(late->poll(some).ok());
        ASSERT_TRUE(early->poll(some).ok());
        ASSERT_TRUE(receiver->poll(some).ok());
    }
    EXPECT_EQ(early->in_flight(), 0U);
    EXPECT_EQ(late->in_flight(), 0U);
    const auto sender = ranks.channel(0).open_lane(1);
    ASSERT_TRUE(sender->start_send(1, 0, out.data(), 4, 0).ok());
    drain(*receiver);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
}

/// A Nonsense test sees what rank 1 says after rank 0 wrote something wrong.
class Nonsense : public testing::Test {
  protected:
    std::string after(const std::function<void(const ShmLayout&)>& write, std::size_t sent = 0) {
        const auto lane = ranks_.channel(1).open_lane(2);
        std::vector<std::byte> in(100), out(sent);
        EXPECT_TRUE(lane->start_recv(0, 0, in.data(), in.size(), 0).ok());
        if (sent > 0) {
            EXPECT_TRUE(lane->start_send(0, 0, out.data(), out.size(), 1).ok());
        }
        write(ranks_.layout());
        std::vector<Completion> done(4);
        const auto count = lane->poll(done);
        EXPECT_FALSE(count.ok()) << "nobody noticed";
        if (count.ok()) return "";
        EXPECT_EQ(count.status().code(), Code::transport);
        EXPECT_TRUE(ranks_.traffic(1).has_failed());
        EXPECT_FALSE(ranks_.traffic(0).has_failed());
        EXPECT_FALSE(lane->start_recv(0, 1, in.data(), in.size(), 0).ok());
        return count.status().message();
    }
    static void write_record(const ShmLayout& layout, RecordKind kind, const MessageNote& note,
                             int tag = 0) {
        Record& record = layout.outbox(0, 1)[0];
        record.body = RecordBody::of(kind, tag, note);
        record.turn.store(1);
    }

    ThreadRanks ranks_{2, little, Reading::never};
};

TEST_F(Nonsense, RecordOfAnUnknownKindNamesThePeer) {
    const std::string text = after(
        [](const ShmLayout& layout) { write_record(layout, static_cast<RecordKind>(99), {}); });
    EXPECT_NE(text.find("rank 0"), std::string::npos) << text;
    EXPECT_NE(text.find("99"), std::string::npos) << text;
}

TEST_F(Nonsense, BytesOutsideTheCellsAreRefused) {
    MessageNote note;
    note.size_bytes = note.run_bytes = 60;
    note.first_cell = 1'000'000;
    const std::string text =
        after([&](const ShmLayout& layout) { write_record(layout, RecordKind::announce, note); });
    EXPECT_NE(text.find("cell 1000000"), std::string::npos) << text;
}

TEST_F(Nonsense, RunLongerThanTheCellsBehindItIsRefused) {
    MessageNote note;
    note.size_bytes = note.run_bytes = 257;
    note.first_cell = 63;
    EXPECT_NE(after([&](const ShmLayout& layout) {
                  write_record(layout, RecordKind::announce, note);
              }).find("cell 63"),
              std::string::npos);
}

TEST_F(Nonsense, RunLongerThanItsMessageIsRefused) {
    MessageNote note;
    note.size_bytes = 10;
    note.run_bytes = 200;
    EXPECT_NE(after([&](const ShmLayout& layout) {
                  write_record(layout, RecordKind::announce, note);
              }).find("200 of 10"),
              std::string::npos);
}

TEST_F(Nonsense, InlinedMessageLongerThanItsRecordIsRefused) {
    EXPECT_NE(after([&](const ShmLayout& layout) {
                  Record& record = layout.outbox(0, 1)[0];
                  record.body.kind = RecordKind::inlined;
                  record.body.inline_bytes = 49;
                  record.turn.store(1);
              }).find("49 bytes"),
              std::string::npos);
}

TEST_F(Nonsense, PieceThatNobodyAskedForIsRefused) {
    for (const std::uint64_t id : {std::uint64_t{0xffffffffffff}, std::uint64_t{1} << 24}) {
        ThreadRanks fresh(2, little, Reading::never);
        MessageNote note;
        note.size_bytes = note.run_bytes = 100;
        note.receiver_id = id;
        const auto lane = fresh.channel(1).open_lane(1);
        std::vector<std::byte> in(100);
        ASSERT_TRUE(lane->start_recv(0, 0, in.data(), in.size(), 0).ok());
        write_record(fresh.layout(), RecordKind::piece, note);
        Completion done;
        EXPECT_FALSE(lane->poll({&done, 1}).ok()) << id;
    }
}

TEST_F(Nonsense, AnswersToMessagesThatWereNeverSentAreRefused) {
    for (const RecordKind kind : {RecordKind::pull, RecordKind::done}) {
        ThreadRanks fresh(2, little, Reading::never);
        const auto lane = fresh.channel(1).open_lane(1);
        std::vector<std::byte> in(100);
        ASSERT_TRUE(lane->start_recv(0, 0, in.data(), in.size(), 0).ok());
        MessageNote note;
        note.sender_id = 0xffffffffffff;
        write_record(fresh.layout(), kind, note);
        Completion done;
        EXPECT_FALSE(lane->poll({&done, 1}).ok());
    }
}

TEST_F(Nonsense, CellsThatThePeerNeverHadCannotBeGivenBack) {
    const std::string text = after(
        [](const ShmLayout& layout) {
            layout.feedback(0, 1).released.store(std::uint64_t{1} << 60);
        },
        200);
    EXPECT_NE(text.find("cell 60"), std::string::npos) << text;
}

TEST_F(Nonsense, WrongTurnOfARecordIsRefused) {
    const std::string text =
        after([](const ShmLayout& layout) { layout.outbox(0, 1)[0].turn.store(77); });
    EXPECT_NE(text.find("77"), std::string::npos) << text;
}

TEST_F(Nonsense, MoreRecordsTakenThanWereWrittenIsRefused) {
    const auto lane = ranks_.channel(1).open_lane(100);
    ranks_.layout().feedback(0, 1).taken.store(1000);
    const int out = 1;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(lane->start_send(0, i, &out, 4, 0).ok());
    std::vector<Completion> done(4);
    EXPECT_EQ(lane->poll(done).status().code(), Code::transport);
}

TEST(ShmLayout, PairOfManyRanksCostsNoMoreThan256Bytes) {
    const std::size_t ranks = 256;
    EXPECT_LE(ShmLayout::bytes_a_rank_for(static_cast<int>(ranks), 0), ranks * 256 + 4096);
}

TEST(ShmLayout, TooLittleMemoryIsRefusedWithTheLeast) {
    std::byte nothing{};
    const auto layout = ShmLayout::make(&nothing, 4, 4096);
    ASSERT_FALSE(layout.ok());
    EXPECT_NE(layout.status().message().find("4096"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
