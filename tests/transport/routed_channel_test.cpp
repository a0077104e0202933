// The channel of several ways under mpirun: the contract, and messages of every size between
// processes.
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/mpi/mpi.hpp"
#include "support/loopback.hpp"
#include "transport/channel_contract.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/process_world.hpp"
#include "transport/routed/make_channel.hpp"
#include "transport/routed/routed_channel.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

template <bool ReadPeers, std::size_t CellsBytes>
struct RoutedWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const auto channel = make_channel(comm, options());
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        body(**channel);
        MPI_Barrier(comm);
    }
    static ChannelOptions options() {
        ChannelOptions options;
        if (CellsBytes > 0) options.cells_bytes = CellsBytes;
        options.read_peers = ReadPeers;
        return options;
    }
};

/// Ranks whose numbers differ in one bit share memory.
class PairMemory {
  public:
    PairMemory(MPI_Comm comm, int bit) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
        peer_ = rank_ ^ bit;
        MPI_Comm_split(comm, std::min(rank_, peer_), rank_, &pair_);
        MPI_Comm_set_errhandler(pair_, MPI_ERRORS_RETURN);
        const std::size_t bytes_a_rank = ShmLayout::bytes_a_rank_for(2, std::size_t{1} << 20);
        auto made = SharedSegment::make(pair_, bytes_a_rank, bytes_a_rank);
        if (made.ok()) segment_ = std::move(*made);
    }
    ~PairMemory() { MPI_Comm_free(&pair_); }
    PairMemory(const PairMemory&) = delete;
    PairMemory& operator=(const PairMemory&) = delete;

    /// Returns whether there is such a rank.
    bool has_peer() const { return peer_ < size_; }
    PartialChannel way(std::string_view name) {
        const bool is_second = rank_ > peer_;
        const int low = std::min(rank_, peer_);
        const int high = std::max(rank_, peer_);
        PartialChannel way{name, nullptr, std::vector<int>(static_cast<std::size_t>(size_), -1)};
        auto shm = ShmTraffic::make(
            {segment_->data(), segment_->bytes_a_rank(), is_second ? 1 : 0, 2}, {low, high});
        EXPECT_TRUE(shm.ok()) << shm.status().message();
        way.channel = std::make_unique<ShmChannel>(std::move(shm).value(), std::uint16_t{0});
        way.places[static_cast<std::size_t>(low)] = 0;
        way.places[static_cast<std::size_t>(high)] = 1;
        return way;
    }

  private:
    int rank_ = 0, size_ = 1, peer_ = 0;
    MPI_Comm pair_ = MPI_COMM_NULL;
    std::unique_ptr<SharedSegment> segment_;
};

PartialChannel mpi_way(MPI_Comm comm) {
    auto mpi = MpiChannel::make(comm);
    EXPECT_TRUE(mpi.ok()) << mpi.status().message();
    PartialChannel way{"mpi", std::move(mpi).value(), {}};
    for (int rank = 0; rank < way.channel->rank_count(); ++rank) way.places.push_back(rank);
    return way;
}

/// In a PairsWorld ranks whose numbers differ in the lowest bits meet in memory of their own, a
/// segment for each such bit; all others go by MPI. With one bit it is as if every two ranks were
/// on a host of their own. With two bits and four ranks each goes a way of its own to each of the
/// other three.
template <int Bits>
struct PairsWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        std::vector<std::unique_ptr<PairMemory>> memories;
        std::vector<PartialChannel> ways;
        for (int bit = 0; bit < Bits; ++bit) {
            memories.push_back(std::make_unique<PairMemory>(comm, 1 << bit));
            if (memories.back()->has_peer()) ways.push_back(memories.back()->way("pair"));
        }
        ways.push_back(mpi_way(comm));
        const int tag_limit = ways.back().channel->tag_limit();
        RoutedChannel channel(comm, std::move(ways), tag_limit);
        body(channel);
        MPI_Barrier(comm);
    }
};

using Worlds =
    testing::Types<RoutedWorld<true, 0>, RoutedWorld<false, 131072>, PairsWorld<1>, PairsWorld<2>>;
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
        ChannelOptions options;
        options.read_peers = read_peers;
        const auto channel = make_channel(world.comm, options);
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        for (int round = 0; round < 4; ++round) exchange_sizes(**channel);
        MPI_Barrier(world.comm);
    }
}

std::vector<std::string_view> names_of_ways(const Channel& channel) {
    std::vector<std::string_view> names;
    if (const auto* routed = dynamic_cast<const RoutedChannel*>(&channel))
        for (const PartialChannel& way : routed->ways()) names.push_back(way.name);
    return names;
}

TEST(RoutedChannel, RanksOfOneHostMeetInSharedMemoryAndOpenNoOtherWay) {
    RoutedWorld<true, 0> world;
    const auto channel = make_channel(world.comm);
    ASSERT_TRUE(channel.ok()) << channel.status().message();
    const auto* host = dynamic_cast<const RoutedChannel*>(channel->get());
    if ((*channel)->rank_count() == 1) {
        EXPECT_EQ(host, nullptr) << "a rank alone needs no memory";
        return;
    }
    ASSERT_NE(host, nullptr);
    EXPECT_EQ(names_of_ways(*host), std::vector<std::string_view>{"shm"});
    for (int rank = 0; rank < host->rank_count(); ++rank) {
        EXPECT_EQ(host->route_to(rank).place, rank);
        EXPECT_EQ(host->capabilities(rank), Capabilities());
    }
}

TEST(RoutedChannel, TransportsThatAreNotAllowedAreNotAsked) {
    RoutedWorld<true, 0> world;
    ChannelOptions no_shm;
    no_shm.transports = *TransportChoice::parse("mpi");
    ChannelOptions no_memory;
    no_memory.cells_bytes = 0;
    for (const ChannelOptions& options : {no_shm, no_memory}) {
        const auto channel = make_channel(world.comm, options);
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        EXPECT_TRUE((*channel)->capabilities(0).drives_mpi);
        EXPECT_TRUE(names_of_ways(**channel).empty()) << "the channel itself";
    }
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

/// Peer k is oneself, by a way of its own.
class MirrorWays {
  public:
    explicit MirrorWays(MPI_Comm comm) {
        int size = 1;
        MPI_Comm_size(comm, &size);
        std::vector<PartialChannel> ways;
        for (int peer = 0; peer < size; ++peer) {
            worlds_.push_back(
                std::make_unique<LoopbackWorld>(1, LoopbackOptions{.eager_bytes = 64}));
            PartialChannel way{"mirror", std::make_unique<Mirror>(worlds_.back()->channel(0)),
                               std::vector<int>(static_cast<std::size_t>(size), -1)};
            way.places[static_cast<std::size_t>(peer)] = 0;
            ways.push_back(std::move(way));
        }
        channel_ = std::make_unique<RoutedChannel>(comm, std::move(ways), 1000);
    }
    Channel& channel() { return *channel_; }

  private:
    class Mirror final : public Channel {
      public:
        explicit Mirror(Channel& channel) : channel_(channel) {}
        int rank() const override { return 0; }
        int rank_count() const override { return 1; }
        int tag_limit() const override { return channel_.tag_limit(); }
        std::unique_ptr<Lane> open_lane(std::size_t capacity) override {
            return channel_.open_lane(capacity);
        }

      private:
        Channel& channel_;
    };

    std::vector<std::unique_ptr<LoopbackWorld>> worlds_;
    std::unique_ptr<RoutedChannel> channel_;
};

TEST(RoutedChannel, NoWayStarvesWhereAPollHasRoomForOneCompletion) {
    constexpr int messages = 8;
    ProcessComm world;
    MirrorWays mirror(world.comm);
    const int ways = mirror.channel().rank_count();
    const auto lane = mirror.channel().open_lane(static_cast<std::size_t>(2 * ways * messages));
    const int out = 5;
    std::vector<int> in(static_cast<std::size_t>(ways * messages));
    for (int peer = 0; peer < ways; ++peer)
        for (int i = 0; i < messages; ++i) {
            auto* to = &in[static_cast<std::size_t>(peer * messages + i)];
            ASSERT_TRUE(lane->start_send(peer, i, &out, 4, static_cast<std::uint32_t>(peer)).ok());
            ASSERT_TRUE(lane->start_recv(peer, i, to, 4, static_cast<std::uint32_t>(peer)).ok());
        }
    // All are ready: no way is ever two completions ahead of another.
    std::vector<int> had(static_cast<std::size_t>(ways));
    Completion done;
    while (lane->in_flight() > 0) {
        const auto count = lane->poll({&done, 1});
        ASSERT_TRUE(count.ok()) << count.status().message();
        ASSERT_EQ(*count, 1U);
        ++had[done.cookie];
        EXPECT_LE(*std::max_element(had.begin(), had.end()),
                  *std::min_element(had.begin(), had.end()) + 1);
    }
}

TEST(RoutedChannel, ARankThatNoWayReachesIsRefusedByName) {
    ProcessComm world;
    RoutedChannel channel(world.comm, {}, 1000);
    const auto lane = channel.open_lane(1);
    const int value = 0;
    const Status status = lane->start_send(0, 0, &value, 4, 0);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.message().find("rank 0"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace gradcoll
