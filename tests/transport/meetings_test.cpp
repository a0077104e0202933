// Memory that communicators of the same ranks of a host share for their messages.
#include "transport/shm/meetings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/channel_contract.hpp"
#include "transport/process_world.hpp"
#include "transport/shm/layout.hpp"

namespace gradcoll {
namespace {

/// Returns the number of segments that this process has mapped.
std::size_t segments() {
    std::ifstream maps("/proc/self/maps");
    std::size_t found = 0;
    for (std::string line; std::getline(maps, line);)
        found += line.find("memfd:gradcoll") != std::string::npos ? 1 : 0;
    return found;
}

std::unique_ptr<Channel> meeting_of(const HostComm& host, std::size_t cells_bytes = 1 << 20) {
    auto made = meet(host, {ShmLayout::bytes_a_rank_for(host.size, cells_bytes), 1 << 19});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(*made) : nullptr;
}

/// SharedWorld is one of two channels in the same memory.
struct SharedWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const auto host = HostComm::make(comm);
        ASSERT_TRUE(host.ok()) << host.status().message();
        std::vector<std::unique_ptr<Channel>> channels;
        for (std::size_t i = 0; i <= own_meetings; ++i) channels.push_back(meeting_of(*host));
        body(*channels.back());
        MPI_Barrier(comm);
    }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Shared, ChannelContract, SharedWorld);

class MeetingsTest : public testing::Test {
  protected:
    void SetUp() override {
        auto made = HostComm::make(world_.comm);
        ASSERT_TRUE(made.ok()) << made.status().message();
        host_.emplace(std::move(*made));
        if (host_->size == 1) GTEST_SKIP() << "needs two ranks";
    }

    std::unique_ptr<Channel> meeting(std::size_t cells_bytes = 1 << 20) const {
        return meeting_of(*host_, cells_bytes);
    }
    /// Exchanges the same message between neighbours on every channel, before any of it is taken.
    static void exchange(const std::vector<std::unique_ptr<Channel>>& channels, std::size_t size) {
        std::vector<std::unique_ptr<Lane>> lanes;
        std::vector<Bytes> out, in(channels.size(), Bytes(size));
        for (std::size_t i = 0; i < channels.size(); ++i) {
            Channel& channel = *channels[i];
            lanes.push_back(channel.open_lane(2));
            out.push_back(pattern(
                size, static_cast<unsigned>(100 * channel.rank()) + static_cast<unsigned>(i)));
            ASSERT_TRUE(lanes[i]->start_send(next_of(channel), 3, out[i].data(), size, 0).ok());
        }
        for (std::size_t i = channels.size(); i-- > 0;) {
            Channel& channel = *channels[i];
            ASSERT_TRUE(lanes[i]->start_recv(previous_of(channel), 3, in[i].data(), size, 1).ok());
        }
        for (std::size_t i = 0; i < channels.size(); ++i) {
            drain(*lanes[i]);
            EXPECT_EQ(in[i], pattern(size, static_cast<unsigned>(100 * previous_of(*channels[i])) +
                                               static_cast<unsigned>(i)))
                << "channel " << i;
        }
    }

    ProcessComm world_;
    std::optional<HostComm> host_;
};

TEST_F(MeetingsTest, AreSharedOnceThereAreEnough) {
    const std::size_t before = segments();
    std::vector<std::unique_ptr<Channel>> channels;
    for (int i = 0; i < 40; ++i) channels.push_back(meeting());
    EXPECT_EQ(segments(), before + own_meetings);
    for (const std::size_t size : {8, 5'000, 200'000, 1 << 20}) exchange(channels, size);
    MPI_Barrier(world_.comm);
    channels.clear();
    EXPECT_EQ(segments(), before);
}

TEST_F(MeetingsTest, OfOtherSizesOrOrdersAreApart) {
    const std::size_t before = segments();
    std::vector<std::unique_ptr<Channel>> channels, larger, turned;
    for (std::size_t i = 0; i < own_meetings; ++i) channels.push_back(meeting());
    larger.push_back(meeting(2 << 20));
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_split(world_.comm, 0, -host_->rank, &other);
    {
        auto host = HostComm::make(other);
        ASSERT_TRUE(host.ok()) << host.status().message();
        turned.push_back(meeting_of(*host));
    }
    MPI_Comm_free(&other);
    EXPECT_EQ(segments(), before + own_meetings + 2);
    exchange(channels, 5'000);
    exchange(larger, 5'000);
    exchange(turned, 5'000);
    MPI_Barrier(world_.comm);
}

/// Ranks free channels at different times: one still has what others have no more.
TEST_F(MeetingsTest, ThatOneRankHasNoMoreAreNotUsedAgain) {
    std::vector<std::unique_ptr<Channel>> channels;
    for (std::size_t i = 0; i < own_meetings; ++i) channels.push_back(meeting());
    std::vector<std::unique_ptr<Channel>> kept;
    if (host_->rank == 0) kept = std::move(channels);
    channels.clear();
    for (int i = 0; i < 3; ++i) channels.push_back(meeting());
    exchange(channels, 5'000);
    MPI_Barrier(world_.comm);
}

/// Numbers of channels in one memory never come back.
TEST_F(MeetingsTest, OutliveManyChannels) {
    std::vector<std::unique_ptr<Channel>> channels;
    for (std::size_t i = 0; i < own_meetings; ++i) channels.push_back(meeting());
    for (int i = 0; i < 200; ++i) {
        std::vector<std::unique_ptr<Channel>> more;
        more.push_back(meeting());
        if (i % 50 == 0) exchange(more, 700);
        MPI_Barrier(world_.comm);
    }
    exchange(channels, 700);
    MPI_Barrier(world_.comm);
}

}  // namespace
}  // namespace gradcoll
