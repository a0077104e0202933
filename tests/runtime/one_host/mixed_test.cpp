// Broadcasts, reductions, gathers, scatters, barriers and allreduces of ranks as threads, in any
// order and at any pace, against what they would be in one process.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <vector>

#include "host.hpp"

namespace gradcoll {
namespace {

using test::Host;
using test::HostRank;
using test::small_choices;

enum class Kind { bcast, reduce, allgather, reduce_scatter, barrier, allreduce, count };

/// Call is one call of a program that all ranks run.
struct Call {
    Kind kind = Kind::barrier;
    int root = 0;
    std::size_t count = 0;  ///< elements of a block, where there are blocks
    std::uint64_t number = 0;

    std::uint64_t signature() const {
        return number << 40U ^ count << 16U ^ static_cast<std::uint64_t>(kind) << 8U ^
               static_cast<std::uint64_t>(root);
    }
};

/// Returns calls of all sizes that matter: none, beside the flag, one block, more blocks than
/// slots.
std::vector<Call> program(unsigned seed, int ranks, int length) {
    std::minstd_rand random(seed);
    const std::size_t counts[] = {0, 1, 15, 60, 61, 200, 600, 1024, 1025, 3000, 9001};
    const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random()) % end; };
    std::vector<Call> calls;
    for (int i = 0; i < length; ++i) {
        // Runs of one kind and root, so that ranks that wait for nobody run ahead.
        const Call call{static_cast<Kind>(below(static_cast<std::size_t>(Kind::count))),
                        static_cast<int>(below(static_cast<std::size_t>(ranks))),
                        counts[below(std::size(counts))], 0};
        for (std::size_t again = 0; again < 1 + below(9); ++again) calls.push_back(call);
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].number = i;
    return calls;
}

/// Returns a whole number, so that the order of sums does not matter.
std::int32_t value(const Call& call, int rank, std::size_t index) {
    return static_cast<std::int32_t>(
        (call.number * 31 + static_cast<std::size_t>(rank) * 977 + index * 7) % 10007);
}

std::vector<std::int32_t> values(const Call& call, int rank, std::size_t count,
                                 std::size_t first = 0) {
    std::vector<std::int32_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = value(call, rank, first + i);
    return out;
}

std::vector<std::int32_t> sums(const Call& call, int ranks, std::size_t count,
                               std::size_t first = 0) {
    std::vector<std::int32_t> out(count, 0);
    for (int rank = 0; rank < ranks; ++rank)
        for (std::size_t i = 0; i < count; ++i) out[i] += value(call, rank, first + i);
    return out;
}

constexpr std::int32_t untouched = -77;
const Reducer& int_sum() {
    static const Reducer reducer = reducer_for(ReduceOp::sum, ElementType::i32);
    return reducer;
}

/// A third of the calls are started, and looked after.
template <class Collective, class OneCall>
Status make(Collective& collective, const OneCall& call, std::uint64_t number) {
    if (number % 3 != 1) return collective.run(call);
    Startable& started = collective.start(call);
    while (!started.is_over())
        if (!started.advance()) std::this_thread::yield();
    return started.outcome();
}

/// Makes one call as one rank, and says whether it is right.
class Player {
  public:
    Player(HostRank& rank, int ranks) : rank_(rank), ranks_(ranks) {}

    void play(const Call& call, bool in_place) {
        SCOPED_TRACE(testing::Message() << "rank " << rank_.rank << " call " << call.number
                                        << " kind " << static_cast<int>(call.kind) << " root "
                                        << call.root << " count " << call.count);
        switch (call.kind) {
            case Kind::bcast:
                return bcast(call);
            case Kind::reduce:
                return reduce(call, in_place);
            case Kind::allgather:
                return allgather(call, in_place);
            case Kind::reduce_scatter:
                return reduce_scatter(call, in_place);
            case Kind::allreduce:
                return allreduce(call);
            default:
                return barrier(call);
        }
    }

  private:
    std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }

    void bcast(const Call& call) {
        std::vector<std::int32_t> data = rank_.rank == call.root
                                             ? values(call, call.root, call.count)
                                             : std::vector<std::int32_t>(call.count, untouched);
        const OneHostBcastCall bcast{data.data(), call.count * 4, call.root, call.signature()};
        ASSERT_TRUE(make(rank_.bcast, bcast, call.number).ok());
        ASSERT_EQ(data, values(call, call.root, call.count));
    }

    void reduce(const Call& call, bool in_place) {
        std::vector<std::int32_t> data = values(call, rank_.rank, call.count), out(call.count);
        const bool is_root = rank_.rank == call.root;
        std::int32_t* result = in_place ? data.data() : out.data();
        const OneHostReduceCall reduce{
            {data.data(), is_root ? result : nullptr, call.count, int_sum(), call.signature()},
            call.root};
        ASSERT_TRUE(make(rank_.reduce, reduce, call.number).ok());
        if (!is_root)
            ASSERT_EQ(data, values(call, rank_.rank, call.count));
        else
            ASSERT_EQ(in_place ? data : out, sums(call, ranks_, call.count));
    }

    void allgather(const Call& call, bool in_place) {
        std::vector<std::int32_t> mine = values(call, rank_.rank, call.count);
        std::vector<std::int32_t> all(call.count * ranks(), untouched), expected;
        std::int32_t* own = all.data() + call.count * static_cast<std::size_t>(rank_.rank);
        if (in_place) std::copy(mine.begin(), mine.end(), own);
        ASSERT_TRUE(
            rank_.allgather
                .run({in_place ? own : mine.data(), all.data(), call.count * 4, call.signature()})
                .ok());
        for (int rank = 0; rank < ranks_; ++rank)
            for (const std::int32_t each : values(call, rank, call.count)) expected.push_back(each);
        ASSERT_EQ(all, expected);
    }

    void reduce_scatter(const Call& call, bool in_place) {
        std::vector<std::int32_t> data = values(call, rank_.rank, call.count * ranks());
        std::vector<std::int32_t> out(call.count, untouched);
        std::int32_t* result = in_place ? data.data() : out.data();
        ASSERT_TRUE(
            rank_.reduce_scatter.run({data.data(), result, call.count, int_sum(), call.signature()})
                .ok());
        const std::vector<std::int32_t> block(result, result + call.count);
        ASSERT_EQ(block, sums(call, ranks_, call.count,
                              call.count * static_cast<std::size_t>(rank_.rank)));
    }

    void allreduce(const Call& call) {
        std::vector<std::int32_t> data = values(call, rank_.rank, call.count);
        const OneHostCall allreduce{data.data(), data.data(), call.count, int_sum(),
                                    call.signature()};
        ASSERT_TRUE(make(rank_.allreduce, allreduce, call.number).ok());
        ASSERT_EQ(data, sums(call, ranks_, call.count));
    }

    void barrier(const Call& call) {
        std::byte nothing{};
        ASSERT_TRUE(rank_.allreduce.run({&nothing, &nothing, 0, int_sum(), call.signature()}).ok());
    }

    HostRank& rank_;
    int ranks_;
};

/// Lets a rank fall behind now and then, some of them often.
void dawdle(std::minstd_rand& random, int rank) {
    const unsigned one_in = rank % 2 == 0 ? 40 : 8;
    if (random() % one_in == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

class MixedCalls : public testing::TestWithParam<int> {};

TEST_P(MixedCalls, OfAnyOrderAndPaceAreRight) {
    const int ranks = GetParam();
    for (unsigned seed = 1; seed <= 4; ++seed) {
        Host host(ranks, small_choices(ranks));
        const std::vector<Call> calls = program(seed, ranks, 120);
        host.run([&](HostRank& self) {
            std::minstd_rand random(seed * 100 + static_cast<unsigned>(self.rank));
            Player player(self, ranks);
            for (const Call& call : calls) {
                dawdle(random, self.rank);
                player.play(call, call.number % 2 == 0);
                if (testing::Test::HasFatalFailure()) std::abort();
            }
        });
    }
}

/// A root or a giver that never waits must not overwrite what a sleeping rank has not read.
TEST_P(MixedCalls, WhoWaitsForNobodyDoesNotOverrunASleeper) {
    const int ranks = GetParam();
    for (const std::size_t count : {std::size_t{10}, std::size_t{700}})
        for (const Kind kind : {Kind::bcast, Kind::reduce}) {
            Host host(ranks, small_choices(ranks));
            host.run([&](HostRank& self) {
                Player player(self, ranks);
                for (std::uint64_t number = 0; number < 60; ++number) {
                    const bool sleeps =
                        kind == Kind::bcast ? self.rank == ranks - 1 : self.rank == 0;
                    if (sleeps && number % 10 == 3)
                        std::this_thread::sleep_for(std::chrono::milliseconds(5));
                    player.play({kind, 0, count, number}, number % 2 == 0);
                }
            });
        }
}

/// Whatever the last rank calls instead, it gets an error, nobody hangs, and the next call is
/// right. Those that wait for the last rank get an error, too.
TEST_P(MixedCalls, AnotherCallOfOneRankIsAnErrorAndTheNextCallIsRight) {
    const int ranks = GetParam();
    Host host(ranks, small_choices(ranks));
    const std::size_t counts[] = {3, 700, 5000};
    host.run([&](HostRank& self) {
        Player player(self, ranks);
        std::vector<std::int32_t> data(5000 * static_cast<std::size_t>(ranks), 1);
        std::vector<std::int32_t> out = data;
        const auto try_call = [&](const Call& call) -> Status {
            const bool is_root = self.rank == call.root;
            switch (call.kind) {
                case Kind::bcast:
                    return make(
                        self.bcast,
                        OneHostBcastCall{data.data(), call.count * 4, call.root, call.signature()},
                        call.number);
                case Kind::reduce:
                    return make(self.reduce,
                                OneHostReduceCall{{data.data(), is_root ? out.data() : nullptr,
                                                   call.count, int_sum(), call.signature()},
                                                  call.root},
                                call.number);
                case Kind::allgather:
                    return self.allgather.run(
                        {data.data(), out.data(), call.count * 4, call.signature()});
                case Kind::reduce_scatter:
                    return self.reduce_scatter.run(
                        {data.data(), out.data(), call.count, int_sum(), call.signature()});
                default:
                    return make(self.allreduce,
                                OneHostCall{data.data(), data.data(), call.count, int_sum(),
                                            call.signature()},
                                call.number);
            }
        };
        std::uint64_t number = 0;
        for (int mine = 0; mine < static_cast<int>(Kind::count); ++mine)
            for (int others = 0; others < static_cast<int>(Kind::count); ++others)
                for (const std::size_t my_count : counts)
                    for (const std::size_t their_count : counts) {
                        if (mine == others && my_count == their_count) continue;
                        const Call last{static_cast<Kind>(mine), 0, my_count, number};
                        const Call rest{static_cast<Kind>(others), 0, their_count, number};
                        ++number;
                        const bool is_last = self.rank == ranks - 1;
                        const Status status = try_call(is_last ? last : rest);
                        // Who only gives beside its flag learns nothing of the others.
                        const bool gives = last.kind == Kind::reduce && last.count * 4 <= 1000;
                        if (is_last && !gives) {
                            EXPECT_EQ(status.code(), Code::invalid_argument);
                        }
                        const bool sends = rest.kind == Kind::bcast && rest.count * 4 <= 1000;
                        if (self.rank == 0 && !sends) {
                            EXPECT_EQ(status.code(), Code::invalid_argument);
                        }
                        const auto kind = static_cast<Kind>(number % 6);
                        player.play(
                            {kind, static_cast<int>(number) % ranks, counts[number % 3], number},
                            false);
                        ++number;
                    }
    });
}

TEST_P(MixedCalls, BlocksMayChangeTheirSizeBetweenCalls) {
    const int ranks = GetParam();
    Host host(ranks, small_choices(ranks));
    host.run([&](HostRank& self) {
        Player player(self, ranks);
        for (std::uint64_t number = 1; number <= 60; ++number) {
            self.group.use_blocks_of(small_choices(ranks).sizes.block_bytes / (number % 2 + 1));
            player.play(
                {static_cast<Kind>(number % 6), static_cast<int>(number) % ranks, 5000, number},
                false);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(OneHost, MixedCalls, testing::Values(2, 3, 4, 5, 9));

TEST(OneHostPieces, CoverTheVectorInEvenLines) {
    for (const std::size_t elem_bytes : {std::size_t{1}, std::size_t{3}, std::size_t{4}})
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{64},
                                        std::size_t{1000}, std::size_t{70000}}) {
            const Pieces pieces(count, elem_bytes, 1024, 4096);
            std::size_t elems = 0;
            for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
                EXPECT_EQ(pieces.offset(piece), elems * elem_bytes);
                EXPECT_LE(pieces.bytes(piece), 1024U);
                EXPECT_LE(pieces.offset_in_block(piece) + pieces.bytes(piece), 4096U);
                if (const auto read = pieces.overwritten(piece, 4)) {
                    EXPECT_EQ(pieces.block(*read) + 4, pieces.block(piece));
                    EXPECT_EQ(pieces.block(*read + 1), pieces.block(*read) + 1);
                }
                elems += pieces.elems(piece);
            }
            EXPECT_EQ(elems, count);
        }
}

}  // namespace
}  // namespace gradcoll
