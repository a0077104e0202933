// Every transport of the table keeps the contract of channels, those that were built in from
// outside, too. How transports are asked: a table of its own, with rows that refuse, that reach
// some peers, that reach them from one side.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/mpi/mpi.hpp"
#include "transport/channel_contract.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/process_world.hpp"
#include "transport/routed/make_channel.hpp"
#include "transport/routed/routed_channel.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

bool reaches_all(const Offer& offer) {
    return offer.channel && std::all_of(offer.places.begin(), offer.places.end(),
                                        [](int place) { return place >= 0; });
}

/// TableWorld takes one transport after another: what it offers, if that is all ranks, else with
/// last resorts for the rest.
struct TableWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        int size = 1;
        MPI_Comm_size(comm, &size);
        const std::vector<bool> wanted(static_cast<std::size_t>(size), true);
        for (const Transport* row : transport_table()) {
            SCOPED_TRACE(std::string(row->name));
            const ChannelOptions options;
            Result<Offer> offer = row->offer({comm, wanted, options});
            ASSERT_TRUE(offer.ok()) << offer.status().message();
            if (reaches_all(*offer)) {
                body(*offer->channel);
            } else {
                const auto channel = with_last_resorts(*row);
                ASSERT_TRUE(channel.ok()) << channel.status().message();
                body(**channel);
            }
            MPI_Barrier(comm);
        }
    }

    Result<std::unique_ptr<Channel>> with_last_resorts(const Transport& first) const {
        std::vector<const Transport*> rows = {&first};
        for (const Transport* row : transport_table())
            if (row->is_last_resort && row != &first) rows.push_back(row);
        return make_channel_of(comm, rows);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Table, ChannelContract, TableWorld);

TEST(TransportTable, HasALastResortThatIsAskedLast) {
    const auto rows = transport_table();
    ASSERT_FALSE(rows.empty());
    EXPECT_TRUE(rows.back()->is_last_resort);
    EXPECT_NE(last_resort_names().find(rows.back()->name), std::string::npos);
}

/// Offers MPI messages on a communicator of its own to the ranks that `Reaches` says.
template <bool (*Reaches)(int rank, int peer)>
Result<Offer> offer_some(const OfferRequest& request) {
    static MPI_Comm own = [] {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
        return made;
    }();
    Offer offer;
    offer.channel = GRADCOLL_VALUE(MpiChannel::make(own));
    for (int peer = 0; peer < static_cast<int>(request.wanted.size()); ++peer)
        offer.places.push_back(Reaches(offer.channel->rank(), peer) ? peer : -1);
    return offer;
}

bool are_alike(int rank, int peer) {
    return rank % 2 == peer % 2;
}
bool are_near(int rank, int peer) {
    return std::abs(rank - peer) <= 1;
}
bool are_in_order(int rank, int peer) {
    return rank <= peer;
}
bool is_anybody(int, int) {
    return true;
}

constexpr Transport alike{"alike", "ranks of one parity", false, offer_some<are_alike>};
constexpr Transport near{"near", "the ranks beside", false, offer_some<are_near>};
constexpr Transport one_sided{"one_sided", "ranks above", false, offer_some<are_in_order>};
constexpr Transport everybody{"everybody", "all ranks", false, offer_some<is_anybody>};
constexpr Transport refused_by_rank_0{
    "refused", "nobody, because of rank 0", false,
    [](const OfferRequest& request) -> Result<Offer> {
        int rank = 0;
        PMPI_Comm_rank(request.comm, &rank);
        if (rank == 0) return Result<Offer>(Status(Code::io, "rank 0 has none"));
        Offer offer;
        offer.channel = GRADCOLL_VALUE(MpiChannel::make(request.comm));
        offer.places.resize(request.wanted.size());
        std::iota(offer.places.begin(), offer.places.end(), 0);
        return Result<Offer>(std::move(offer));
    }};

/// Returns the name of the way to each rank; "" if there is none.
std::vector<std::string> names_by_rank(const Channel& channel) {
    const auto* routed = dynamic_cast<const RoutedChannel*>(&channel);
    std::vector<std::string> names;
    for (int peer = 0; routed != nullptr && peer < channel.rank_count(); ++peer) {
        const PeerRoute& route = routed->route_to(peer);
        names.emplace_back(
            route.way < 0 ? "" : routed->ways()[static_cast<std::size_t>(route.way)].name);
    }
    return names;
}

bool is_whoever_can_wait(int, int) {
    return true;
}
constexpr Transport slow_to_begin{.name = "slow",
                                  .description = "all ranks, with long messages",
                                  .offer = offer_some<is_whoever_can_wait>,
                                  .short_bytes = 1000};

/// This process says it the first time only.
TEST(Offers, AWayThatHasCarriedNothingIsSaidOnce) {
    const ProcessComm world;
    testing::internal::CaptureStderr();
    const std::vector<const Transport*> rows = {&slow_to_begin, &everybody};
    for (int round = 0; round < 2; ++round) {
        const auto made = make_channel_of(world.comm, rows);
        ASSERT_TRUE(made.ok()) << made.status().message();
        Channel& channel = **made;
        const int next = (channel.rank() + 1) % channel.rank_count();
        const int before = (channel.rank() + channel.rank_count() - 1) % channel.rank_count();
        const auto lane = channel.open_short_lane(2);
        const char out[] = "short";
        char in[sizeof out] = {};
        ASSERT_TRUE(lane->start_send(next, 1, out, sizeof out, 0).ok());
        ASSERT_TRUE(lane->start_recv(before, 1, in, sizeof in, 1).ok());
        drain(*lane);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string line = "warn: messages do not go by slow: all of a communicator of ";
    const std::size_t at = said.find(line);
    EXPECT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find("do not go by slow", at + line.size()), std::string::npos) << said;
}

TEST(Offers, ATransportThatIsNamedAndNotThereIsSaid) {
    const ProcessComm world;
    ChannelOptions options;
    options.transports = TransportChoice::parse("mpi").value();
    testing::internal::CaptureStderr();
    const auto made =
        make_channel_of(world.comm, std::vector{&refused_by_rank_0, &everybody}, options);
    EXPECT_TRUE(made.ok());
    const std::string said = testing::internal::GetCapturedStderr();
    int rank = 0;
    MPI_Comm_rank(world.comm, &rank);
    EXPECT_EQ(
        said.find("warn: messages do not go by refused: rank 0 has none") != std::string::npos,
        rank == 0)
        << said;
}

/// Both ends of every pair take the same kind: a message that is under way in a lane of one kind is
/// not found by one of the other.
TEST(Offers, ShortMessagesGoByATransportThatTakesThem) {
    const ProcessComm world;
    const std::vector<const Transport*> rows = {&slow_to_begin, &everybody};
    const auto made = make_channel_of(world.comm, rows);
    ASSERT_TRUE(made.ok()) << made.status().message();
    Channel& channel = **made;
    const int last = channel.rank_count() - 1, rank = channel.rank();
    EXPECT_EQ(channel.short_bytes(), 1000U);
    for (const std::string& name : names_by_rank(channel)) EXPECT_EQ(name, "slow");
    if (last == 0 || (rank != 0 && rank != last)) return;
    const auto lane = channel.open_lane(2), short_lane = channel.open_short_lane(2);
    const char out[] = "by all", short_out[] = "by those";
    char in[16] = {}, short_in[16] = {};
    if (rank == 0) {
        ASSERT_TRUE(lane->start_send(last, 1, out, sizeof out, 0).ok());
        ASSERT_TRUE(short_lane->start_send(last, 1, short_out, sizeof short_out, 0).ok());
    } else {
        ASSERT_TRUE(short_lane->start_recv(0, 1, short_in, sizeof short_in, 0).ok());
        ASSERT_TRUE(lane->start_recv(0, 1, in, sizeof in, 0).ok());
    }
    for (Lane* each : {lane.get(), short_lane.get()})
        for (const Completion& done : drain(*each))
            EXPECT_TRUE(done.status.ok()) << done.status.message();
    if (rank == 0) return;
    EXPECT_STREQ(in, out);
    EXPECT_STREQ(short_in, short_out);
}

TEST(Offers, WhereNoOtherTransportIsShortMessagesTakeTheOnlyOne) {
    const ProcessComm world;
    const auto made = make_channel_of(world.comm, std::vector<const Transport*>{&slow_to_begin});
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_NE((*made)->open_short_lane(1), nullptr);
}

struct MixedWorld : ProcessComm {
    template <class Body>
    void run(Body body) {
        const std::vector<const Transport*> rows = {&refused_by_rank_0, &one_sided, &alike, &near,
                                                    &everybody};
        const auto channel = make_channel_of(comm, rows);
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        body(**channel);
        MPI_Barrier(comm);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Mixed, ChannelContract, MixedWorld);

TEST(Offers, EachPeerIsReachedByTheFirstTransportThatReachesIt) {
    MixedWorld().run([](const Channel& channel) {
        std::vector<std::string> expected;
        for (int peer = 0; peer < channel.rank_count(); ++peer)
            expected.emplace_back(are_alike(channel.rank(), peer)  ? "alike"
                                  : are_near(channel.rank(), peer) ? "near"
                                                                   : "everybody");
        if (channel.rank_count() == 1)
            EXPECT_TRUE(names_by_rank(channel).empty()) << "one_sided: nobody is above";
        else
            EXPECT_EQ(names_by_rank(channel), expected);
    });
}

TEST(Offers, WhatOneRankRefusesIsLeftByAll) {
    ProcessComm world;
    const std::vector<const Transport*> rows = {&refused_by_rank_0, &near, &everybody};
    const auto channel = make_channel_of(world.comm, rows);
    ASSERT_TRUE(channel.ok()) << channel.status().message();
    for (const std::string& name : names_by_rank(**channel)) EXPECT_NE(name, "refused");
}

TEST(Offers, ARankThatNobodyReachesIsTheSameErrorOnAllRanks) {
    ProcessComm world;
    int size = 1;
    MPI_Comm_size(world.comm, &size);
    if (size < 3) GTEST_SKIP() << "all are near";
    const std::vector<const Transport*> rows = {&near};
    const auto channel = make_channel_of(world.comm, rows);
    ASSERT_FALSE(channel.ok());
    EXPECT_EQ(channel.status().code(), Code::invalid_argument);
    for (const std::string& words : {std::string("from rank 0 to rank 2"), last_resort_names()})
        EXPECT_NE(channel.status().message().find(words), std::string::npos)
            << channel.status().message();
}

TEST(Offers, NobodyIsAskedAfterAllAreReached) {
    ProcessComm world;
    static bool asked = false;
    constexpr Transport late{"late", "", false, [](const OfferRequest&) {
                                 asked = true;
                                 return Result<Offer>(Offer());
                             }};
    const std::vector<const Transport*> rows = {&everybody, &late};
    ASSERT_TRUE(make_channel_of(world.comm, rows).ok());
    EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace gradcoll
