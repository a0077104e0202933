// The MPI channel: the contract on a duplicate of MPI_COMM_WORLD, and its own limits.
#include "transport/mpi/mpi_channel.hpp"

#include <climits>

#include "transport/channel_contract.hpp"
#include "transport/mpi/mpi_lane.hpp"
#include "transport/process_world.hpp"

namespace gradcoll {
namespace {

struct ProcessWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const auto channel = MpiChannel::make(comm);
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        body(**channel);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Mpi, ChannelContract, ProcessWorld);

TEST(MpiChannel, NullCommunicatorIsRefused) {
    EXPECT_EQ(MpiChannel::make(MPI_COMM_NULL).status().code(), Code::invalid_comm);
}

/// Every rank sends to the next one, in messages that are cut.
void send_around(const Channel& channel, Lane& lane, std::size_t size_bytes) {
    const Bytes out = pattern(size_bytes, static_cast<unsigned>(channel.rank()));
    Bytes in(size_bytes);
    ASSERT_TRUE(lane.start_recv(previous_of(channel), 3, in.data(), in.size(), 1).ok());
    ASSERT_TRUE(lane.start_send(next_of(channel), 3, out.data(), out.size(), 2).ok());
    const auto done = drain(lane);
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(find_cookie(done, 1)->received_bytes, size_bytes);
    EXPECT_EQ(in, pattern(size_bytes, static_cast<unsigned>(previous_of(channel))));
}

TEST(MpiLane, CutMessagesOfAllLengthsArriveUnchanged) {
    ProcessWorld().run([](MpiChannel& channel) {
        const std::size_t piece = channel.unasked_bytes();
        const auto lane = channel.open_lane(2);
        std::vector<int> peers(static_cast<std::size_t>(channel.rank_count()));
        std::iota(peers.begin(), peers.end(), 0);
        lane->cut_messages(peers, CutEnd::by_length);
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, piece, piece + 1, 2 * piece, 100 * piece + 7})
            send_around(channel, *lane, size);
    });
}

/// The messages go round the ring, each to a receive that asks for more; twice, so that nothing of
/// the first may be left over.
TEST(MpiLane, CutMessagesMayBeShorterThanTheirReceives) {
    ProcessWorld().run([](MpiChannel& channel) {
        const std::size_t piece = channel.unasked_bytes();
        const auto lane = channel.open_lane(2);
        std::vector<int> peers(static_cast<std::size_t>(channel.rank_count()));
        std::iota(peers.begin(), peers.end(), 0);
        lane->cut_messages(peers, CutEnd::by_short_piece);
        for (const std::size_t asked : {piece, 3 * piece, 40 * piece + 7})
            for (const std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece,
                                           piece + 1, 2 * piece, 17 * piece + 3, asked}) {
                if (size > asked) continue;
                const Bytes out = pattern(size, static_cast<unsigned>(channel.rank()));
                Bytes in(asked);
                for (int round = 0; round < 2; ++round) {
                    ASSERT_TRUE(
                        lane->start_recv(previous_of(channel), 3, in.data(), asked, 1).ok());
                    ASSERT_TRUE(lane->start_send(next_of(channel), 3, out.data(), size, 2).ok());
                    const auto done = drain(*lane);
                    ASSERT_EQ(done.size(), 2U);
                    ASSERT_TRUE(find_cookie(done, 1)->status.ok());
                    EXPECT_EQ(find_cookie(done, 1)->received_bytes, size);
                    EXPECT_EQ(Bytes(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(size)),
                              pattern(size, static_cast<unsigned>(previous_of(channel))));
                    PMPI_Barrier(channel.comm());
                }
            }
    });
}

/// This holds whatever the receive asks for, and however it is cut; twice, so that nothing is left
/// over.
TEST(MpiLane, ShortSendsArriveInPlaceOfWholeMessages) {
    ProcessWorld().run([](MpiChannel& channel) {
        const std::size_t piece = channel.unasked_bytes();
        std::vector<int> all(static_cast<std::size_t>(channel.rank_count()));
        std::iota(all.begin(), all.end(), 0);
        for (const std::vector<int>& peers : {all, std::vector<int>()})
            for (const CutEnd end : {CutEnd::by_length, CutEnd::by_short_piece}) {
                const auto lane = channel.open_lane(2);
                lane->cut_messages(peers, end);
                for (const std::size_t whole :
                     {std::size_t{17}, piece, piece + 1, 2 * piece, 40 * piece + 7}) {
                    const Bytes out = pattern(16, static_cast<unsigned>(channel.rank()));
                    Bytes in(whole);
                    for (const std::size_t size : {std::size_t{16}, std::size_t{0}}) {
                        ASSERT_TRUE(
                            lane->start_recv(previous_of(channel), 3, in.data(), whole, 1).ok());
                        ASSERT_TRUE(
                            lane->start_short_send(next_of(channel), 3, out.data(), size, whole, 2)
                                .ok());
                        const auto done = drain(*lane);
                        ASSERT_EQ(done.size(), 2U);
                        ASSERT_TRUE(find_cookie(done, 1)->status.ok());
                        EXPECT_EQ(find_cookie(done, 1)->received_bytes, size);
                        EXPECT_EQ(Bytes(in.begin(), in.begin() + 16),
                                  pattern(16, static_cast<unsigned>(previous_of(channel))));
                        PMPI_Barrier(channel.comm());
                        send_around(channel, *lane, whole);
                        PMPI_Barrier(channel.comm());
                    }
                }
            }
    });
}

TEST(MpiLane, MoreMessagesThanItsCapacityAreRefusedAlsoWhereTheyAreCut) {
    ProcessWorld().run([](MpiChannel& channel) {
        const auto lane = channel.open_lane(1);
        lane->cut_messages({0}, CutEnd::by_length);
        Bytes in(20 * channel.unasked_bytes());
        ASSERT_TRUE(lane->start_recv(0, 3, in.data(), in.size(), 1).ok());
        EXPECT_EQ(lane->start_recv(0, 4, in.data(), in.size(), 2).code(), Code::internal);
        EXPECT_EQ(lane->in_flight(), 1U);
        lane->abandon();
        EXPECT_EQ(lane->in_flight(), 0U);
    });
}

TEST(ByteType, SmallSizesArePlainBytes) {
    const auto bytes = ByteType::of(INT_MAX);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->type(), MPI_BYTE);
    EXPECT_EQ(bytes->count(), INT_MAX);
}

TEST(ByteType, LargeSizesAreExactToTheByte) {
    for (const std::size_t size :
         {std::size_t{INT_MAX} + 1, (std::size_t{1} << 32) + 12345, std::size_t{3} << 40}) {
        const auto bytes = ByteType::of(size);
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        MPI_Count each = 0;
        MPI_Type_size_x(bytes->type(), &each);
        EXPECT_EQ(static_cast<std::size_t>(each) * static_cast<std::size_t>(bytes->count()), size);
    }
}

TEST(ByteType, ImpossibleSizeIsRefusedWithTheNumber) {
    const auto bytes = ByteType::of(SIZE_MAX);
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.status().message().find(std::to_string(SIZE_MAX)), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
