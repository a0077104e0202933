// The channel of two ways under mpirun: the contract, and messages of every size between
// processes.
#include <sys/resource.h>

#include <optional>

#include "base/mpi/mpi.hpp"
#include "transport/channel_contract.hpp"
#include "transport/process_world.hpp"
#include "transport/routed/make_channel.hpp"
#include "transport/routed/routed_channel.hpp"

namespace gradcoll {
namespace {

template <bool ReadPeers, std::size_t CellsBytes>
struct RoutedWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const auto channel =
            make_channel(comm, {.cells_bytes = CellsBytes, .read_peers = ReadPeers});
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        body(**channel);
        MPI_Barrier(comm);
    }
};

/// As if every two ranks were on a host of their own: both ways carry messages.
struct PairsWorld : RoutedWorld<false, 0> {
    template <class Body>
    void run(Body body) {
        auto mpi = MpiChannel::make(comm);
        ASSERT_TRUE(mpi.ok()) << mpi.status().message();
        const int rank = (*mpi)->rank();
        const int first = rank / 2 * 2;
        if (first + 1 == (*mpi)->rank_count()) {
            body(**mpi);
        } else {
            MPI_Comm pair = MPI_COMM_NULL;
            const int both[] = {first, first + 1};
            MPI_Group all = MPI_GROUP_NULL, two = MPI_GROUP_NULL;
            MPI_Comm_group(comm, &all);
            MPI_Group_incl(all, 2, both, &two);
            MPI_Comm_create_group(comm, two, 0, &pair);
            auto segment =
                SharedSegment::make(pair, ShmLayout::bytes_a_rank_for(2, std::size_t{1} << 20));
            ASSERT_TRUE(segment.ok()) << segment.status().message();
            const auto channel =
                RoutedChannel::make(std::move(mpi).value(),
                                    {{first, first + 1}, rank - first, std::move(*segment)}, {});
            ASSERT_TRUE(channel.ok()) << channel.status().message();
            body(**channel);
            MPI_Group_free(&two);
            MPI_Group_free(&all);
            MPI_Comm_free(&pair);
        }
        MPI_Barrier(comm);
    }
};

using Worlds = testing::Types<RoutedWorld<true, 0>, RoutedWorld<false, 131072>, PairsWorld>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, ChannelContract, Worlds);

/// Bytes of every size class go around the ring, several tags at a time.
void exchange_sizes(Channel& channel) {
    const std::size_t sizes[] = {0, 1, 48, 49, 4096, 100'000, 262'144, 300'001, 3'000'000};
    const auto lane = channel.open_lane(2 * std::size(sizes));
    std::vector<Bytes> out, in;
    for (const std::size_t size : sizes) {
        out.push_back(pattern(size, static_cast<unsigned>(channel.rank())));
        in.emplace_back(size);
    }
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        const auto tag = static_cast<int>(i);
        const std::size_t back = std::size(sizes) - 1 - i;
        ASSERT_TRUE(lane->start_send(next_of(channel), tag, out[i].data(), out[i].size(), 0).ok());
        ASSERT_TRUE(lane->start_recv(previous_of(channel), static_cast<int>(back), in[back].data(),
                                     in[back].size(), 1)
                        .ok());
    }
    for (const Completion& done : drain(*lane))
        ASSERT_TRUE(done.status.ok()) << done.status.message();
    for (std::size_t i = 0; i < std::size(sizes); ++i)
        EXPECT_EQ(in[i], pattern(sizes[i], static_cast<unsigned>(previous_of(channel))))
            << sizes[i];
}

TEST(RoutedChannel, EverySizeArrivesWhetherItIsReadOrCopied) {
    for (const bool read_peers : {false, true}) {
        RoutedWorld<true, 0> world;
        const auto channel = make_channel(world.comm, {.read_peers = read_peers});
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        for (int round = 0; round < 4; ++round) exchange_sizes(**channel);
        MPI_Barrier(world.comm);
    }
}

TEST(RoutedChannel, RanksOfOneHostMeetInSharedMemory) {
    RoutedWorld<true, 0> world;
    const auto channel = make_channel(world.comm);
    ASSERT_TRUE(channel.ok()) << channel.status().message();
    const auto* host = dynamic_cast<const RoutedChannel*>(channel->get());
    if ((*channel)->rank_count() == 1) {
        EXPECT_EQ(host, nullptr) << "a rank alone needs no memory";
        return;
    }
    ASSERT_NE(host, nullptr);
    for (int rank = 0; rank < host->rank_count(); ++rank) EXPECT_EQ(host->place_of(rank), rank);
}

/// No file can be opened in its life.
class NoFiles {
  public:
    NoFiles() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{0, before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoFiles(const NoFiles&) = delete;
    NoFiles& operator=(const NoFiles&) = delete;

  private:
    rlimit before_ = {};
};

TEST(RoutedChannel, OneRankWithoutMemoryToShareLeavesMpiOnAllRanks) {
    RoutedWorld<true, 0> world;
    int rank = 0;
    MPI_Comm_rank(world.comm, &rank);
    std::optional<NoFiles> no_files;
    if (rank == 0) no_files.emplace();
    const auto channel = make_channel(world.comm);
    no_files.reset();
    ASSERT_TRUE(channel.ok()) << channel.status().message();
    EXPECT_EQ(dynamic_cast<const RoutedChannel*>(channel->get()), nullptr);
    exchange_sizes(**channel);
}

TEST(RoutedChannel, PollingLetsMessagesOfTheMpiLibraryArrive) {
    RoutedWorld<true, 0> world;
    const auto channel = make_channel(world.comm);
    ASSERT_TRUE(channel.ok()) << channel.status().message();
    const int rank = (*channel)->rank();
    const Bytes out = pattern(5'000'000, 1);
    Bytes in(out.size());
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0 && (*channel)->rank_count() > 1) {
        // The sender stays in polls; the message needs its MPI library to go on.
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, 1, 0, other, &request);
        const auto lane = (*channel)->open_lane(1);
        int token = 0;
        ASSERT_TRUE(lane->start_recv(1, 0, &token, 4, 0).ok());
        drain(*lane);
        EXPECT_EQ(token, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, 0, 0, other, MPI_STATUS_IGNORE);
        EXPECT_EQ(in, out);
        const auto lane = (*channel)->open_lane(1);
        const int token = 1;
        ASSERT_TRUE(lane->start_send(0, 0, &token, 4, 0).ok());
        drain(*lane);
    }
    MPI_Comm_free(&other);
    MPI_Barrier(world.comm);
}

}  // namespace
}  // namespace gradcoll
