// Broken messages: every rank ends, those concerned say why, and the next operation works.
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "collectives/exchange/exchange.hpp"
#include "runtime/operation_numbers.hpp"
#include "runtime/spoil.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

/// TwoRuns are two operations of every rank of "((0 1) (2 3 4))"; something spoils a message of the
/// first one.
struct TwoRuns {
    std::vector<Outcome> first{5};
    std::vector<Outcome> second{5};
};

TwoRuns run_twice(const Scenario& shape, LoopbackOptions options) {
    LoopbackWorld world(5, std::move(options));
    TwoRuns runs;
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        runs.first[at] = run_once(*executor, sparse_input, 0);
        runs.second[at] = run_once(*executor, sparse_input, 1);
    });
    return runs;
}

Scenario shape_of(CodecId codec) {
    Scenario shape = scenario("((0 1) (2 3 4))", 20'000, codec);
    shape.spec.chunk_elems = 4096;
    return shape;
}

bool says(const Status& status, const std::string& text) {
    return status.message().find(text) != std::string::npos;
}

TEST(Failure, BrokenHeaderEndsEveryRankAndIsNamed) {
    const TwoRuns runs = run_twice(shape_of(CodecId::nm_2_4), spoil_once(3, 2, break_magic));
    EXPECT_EQ(runs.first[2].status.code(), Code::corrupt) << runs.first[2].status.message();
    EXPECT_TRUE(says(runs.first[2].status, "rank 3")) << runs.first[2].status.message();
    EXPECT_TRUE(says(runs.first[2].status, "level 0")) << runs.first[2].status.message();
    for (const std::size_t rank : {0, 1, 3, 4})
        EXPECT_EQ(runs.first[rank].status.code(), Code::peer_failed) << rank;
    expect_all_equal(runs.second, sum_of_all(sparse_input, 5, 20'000));
}

TEST(Failure, CutMessageIsCorruptAndNamesBothSizes) {
    for (const CodecId codec : {CodecId::exact, CodecId::bf16}) {
        const TwoRuns runs = run_twice(shape_of(codec), spoil_once(0, 1, cut));
        EXPECT_EQ(runs.first[1].status.code(), Code::corrupt) << runs.first[1].status.message();
        EXPECT_TRUE(says(runs.first[1].status, "rank 0")) << runs.first[1].status.message();
        EXPECT_TRUE(says(runs.first[1].status, "bytes arrived")) << runs.first[1].status.message();
        expect_all_equal(runs.second, sum_of_all(sparse_input, 5, 20'000));
    }
}

TEST(Failure, PayloadThatIsNoEncodingEndsEveryRank) {
    const TwoRuns runs = run_twice(shape_of(CodecId::nm_2_4), spoil_once(4, 2, fill_payload));
    EXPECT_EQ(runs.first[2].status.code(), Code::corrupt) << runs.first[2].status.message();
    EXPECT_TRUE(says(runs.first[2].status, "2:4")) << runs.first[2].status.message();
    expect_all_equal(runs.second, sum_of_all(sparse_input, 5, 20'000));
}

/// Runs two operations, in the first of which one rank cannot take part.
TwoRuns run_with_refusal(const Scenario& shape, int refusing, const Status& why) {
    LoopbackWorld world(5);
    TwoRuns runs;
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        if (channel.rank() == refusing) {
            Floats room(static_cast<std::size_t>(shape.spec.count_elems));
            Binding binding = binding_of(room, room, 0);
            binding.refusal = &why;
            runs.first[at].status = executor->start(binding);
            if (runs.first[at].status.ok()) runs.first[at].status = finish(*executor);
        } else {
            runs.first[at] = run_once(*executor, sparse_input, 0);
        }
        runs.second[at] = run_once(*executor, sparse_input, 1);
    });
    return runs;
}

TEST(Failure, WhoRefusesIsNamedOnEveryRankWithTheReason) {
    const Status why(Code::out_of_memory, "no room");
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::bf16})
        for (int refusing = 0; refusing < 5; ++refusing) {
            const TwoRuns runs = run_with_refusal(shape_of(codec), refusing, why);
            for (int rank = 0; rank < 5; ++rank) {
                const Status& status = runs.first[static_cast<std::size_t>(rank)].status;
                EXPECT_EQ(status.code(),
                          rank == refusing ? Code::out_of_memory : Code::peer_failed);
                if (rank == refusing) continue;
                EXPECT_TRUE(says(status, "rank " + std::to_string(refusing) + " cannot go on"))
                    << rank << ": " << status.message();
                EXPECT_TRUE(says(status, "not enough memory")) << status.message();
            }
            expect_all_equal(runs.second, sum_of_all(sparse_input, 5, 20'000));
        }
}

TEST(Failure, MessagesTooShortForAReasonSayThatThereIsOne) {
    const Status why(Code::invalid_buffer, "null");
    for (const char* exchange : {"direct", "ring", "recursive"})
        for (const std::int64_t count : {1, 4, 5, 9}) {
            const Scenario shape = scenario("((0 1) (2 3 4))", count, CodecId::exact,
                                            exchange_named(exchange).value());
            const TwoRuns runs = run_with_refusal(shape, 3, why);
            for (const std::size_t rank : {0, 1, 2, 4})
                EXPECT_EQ(runs.first[rank].status.code(), Code::peer_failed) << rank;
            expect_all_equal(runs.second, sum_of_all(sparse_input, 5, count));
        }
}

/// OtherSignature says which signatures one rank's operation and the others' have, in the middle
/// one of three.
struct OtherSignature {
    std::uint64_t before = 0;
    std::uint64_t others = 0;
    std::uint64_t own = 0;
};

std::vector<std::vector<Outcome>> run_with(const Scenario& shape, int differing,
                                           const OtherSignature& signature) {
    constexpr std::size_t runs = 4;
    LoopbackWorld world(5);
    std::vector<std::vector<Outcome>> outcomes(runs, std::vector<Outcome>(5));
    on_all_ranks(world, 5, [&](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        const auto executor = make_executor(shape, channel);
        const Floats input = sparse_input(channel.rank(), shape.spec.count_elems);
        for (std::size_t run = 0; run < runs; ++run) {
            Outcome& outcome = outcomes[run][static_cast<std::size_t>(channel.rank())];
            outcome.output.resize(input.size());
            Binding binding = binding_of(input, outcome.output, 0);
            binding.numbers = &numbers;
            binding.signature = run != 1                      ? signature.before
                                : channel.rank() == differing ? signature.own
                                                              : signature.others;
            outcome.status = executor->start(binding);
            if (outcome.status.ok()) outcome.status = finish(*executor);
        }
    });
    return outcomes;
}

void expect_difference_told(const std::vector<Outcome>& outcomes) {
    bool said = false;
    for (const Outcome& outcome : outcomes) {
        EXPECT_FALSE(outcome.status.ok());
        said |= says(outcome.status, "different datatypes, operations or counts");
    }
    EXPECT_TRUE(said);
}

TEST(Failure, OperationsOfDifferentSignaturesEndEveryRank) {
    constexpr std::uint64_t a = 7;
    constexpr std::uint64_t b = 9;
    for (const char* exchange : {"direct", "ring", "recursive"})
        for (const OtherSignature signature :
             {OtherSignature{a, a, b}, OtherSignature{a, b, a}, OtherSignature{a, b, b + 1}})
            for (const int differing : {0, 3}) {
                SCOPED_TRACE(exchange);
                const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, CodecId::exact,
                                                exchange_named(exchange).value());
                const auto runs = run_with(shape, differing, signature);
                expect_all_equal(runs[0], sum_of_all(sparse_input, 5, 20'000));
                expect_difference_told(runs[1]);
                expect_all_equal(runs[2], sum_of_all(sparse_input, 5, 20'000));
                expect_all_equal(runs[3], sum_of_all(sparse_input, 5, 20'000));
            }
}

/// Runs three operations, of which one rank's second is of another plan; returns how all three end.
std::vector<std::vector<Outcome>> run_unlike(const Scenario& shape, int differing,
                                             const Scenario& other) {
    constexpr std::size_t runs = 3;
    LoopbackWorld world(5);
    std::vector<std::vector<Outcome>> outcomes(runs, std::vector<Outcome>(5));
    on_all_ranks(world, 5, [&](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        const auto usual = make_executor(shape, channel), unlike = make_executor(other, channel);
        for (std::size_t run = 0; run < runs; ++run) {
            const bool differs = run == 1 && channel.rank() == differing;
            Executor& executor = differs ? *unlike : *usual;
            const std::int64_t count = executor.plan().spec.count_elems;
            const Floats input = sparse_input(channel.rank(), count);
            Outcome& outcome = outcomes[run][static_cast<std::size_t>(channel.rank())];
            outcome.output.resize(input.size());
            Binding binding = binding_of(input, outcome.output, 0);
            binding.numbers = &numbers;
            const bool lacks_codec =
                shape.spec.down_codec != CodecId::exact && other.spec.down_codec == CodecId::exact;
            binding.signature = differs && lacks_codec ? 9 : 7;
            outcome.status = executor.start(binding);
            if (outcome.status.ok()) outcome.status = finish(executor);
        }
    });
    return outcomes;
}

void expect_all_failed(const std::vector<std::vector<Outcome>>& runs, std::int64_t count) {
    expect_all_equal(runs[0], sum_of_all(sparse_input, 5, count));
    for (const Outcome& outcome : runs[1]) EXPECT_FALSE(outcome.status.ok());
    expect_all_equal(runs[2], sum_of_all(sparse_input, 5, count));
}

/// A rank has none if codecs do not take its type, or if its op is no sum.
TEST(Failure, ARankWhoseCallHasNoCodecEndsEveryRank) {
    for (const char* exchange : {"direct", "ring", "recursive"})
        for (const CodecId codec : {CodecId::nm_2_4, CodecId::bf16, CodecId::nm_1_4})
            for (const int differing : {0, 2, 3}) {
                SCOPED_TRACE(testing::Message()
                             << exchange << " " << name_of(codec) << " rank " << differing);
                const Exchange way = exchange_named(exchange).value();
                const Scenario coded = scenario("((0 1) (2 3 4))", 20'000, codec, way);
                const Scenario plain = scenario("((0 1) (2 3 4))", 20'000, CodecId::exact, way);
                expect_all_failed(run_unlike(coded, differing, plain), 20'000);
                expect_all_failed(run_unlike(plain, differing, coded), 20'000);
            }
}

TEST(Failure, ARankWithAnotherCountEndsEveryRank) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4})
        for (const std::int64_t other : {10'000, 19'000, 30'000})
            for (const int differing : {0, 3}) {
                SCOPED_TRACE(testing::Message() << other << " on rank " << differing);
                expect_all_failed(run_unlike(scenario("((0 1) (2 3 4))", 20'000, codec), differing,
                                             scenario("((0 1) (2 3 4))", other, codec)),
                                  20'000);
            }
}

Scenario in_pieces(std::int64_t pieces, Exchange exchange) {
    constexpr std::int64_t piece_elems = 1024;
    Scenario shape = scenario("((0 1) (2 3 4))", pieces * piece_elems, CodecId::exact, exchange);
    shape.spec.chunk_elems = piece_elems;
    shape.options.patience = std::chrono::milliseconds(50);
    return shape;
}

/// The pieces are alike. Who has more of them gives up, and takes part in nothing later, as what it
/// sent may still be there.
TEST(Failure, ARankWithAnotherNumberOfPiecesEndsEveryRank) {
    for (const char* exchange : {"direct", "ring", "recursive"})
        for (const std::int64_t other : {3, 20})
            for (const int differing : {0, 3}) {
                SCOPED_TRACE(testing::Message()
                             << exchange << ": " << other << " on rank " << differing);
                const Exchange way = exchange_named(exchange).value();
                const auto runs = run_unlike(in_pieces(12, way), differing, in_pieces(other, way));
                expect_all_equal(runs[0], sum_of_all(sparse_input, 5, 12 * 1024));
                bool gave_up = false;
                for (const auto& run : {runs[1], runs[2]})
                    for (const Outcome& outcome : run) {
                        EXPECT_FALSE(outcome.status.ok());
                        gave_up |= says(outcome.status, "it can only be freed");
                    }
                EXPECT_TRUE(gave_up);
            }
}

/// One rank's plan has one piece that is as long as others' first.
TEST(Failure, SignaturesOfWhatIsCutHaveTheLength) {
    const Exchange direct = Exchange::direct;
    const auto runs = run_unlike(in_pieces(1, direct), 2, in_pieces(2, direct));
    expect_all_equal(runs[0], sum_of_all(sparse_input, 5, 1024));
    for (const Outcome& outcome : runs[1]) EXPECT_FALSE(outcome.status.ok());
    expect_difference_told(runs[1]);
}

TEST(Failure, SignaturesThatChangeOnAllRanksAreInOrder) {
    for (const std::int64_t count : {5, 20'000}) {
        const Scenario shape = scenario("((0 1) (2 3 4))", count, CodecId::exact);
        for (const auto& run : run_with(shape, 3, {7, 9, 9}))
            expect_all_equal(run, sum_of_all(sparse_input, 5, count));
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

void limit_memory_in_all(rlim_t bytes) {
    rlimit limits{};
    if (::getrlimit(RLIMIT_AS, &limits) != 0) std::abort();
    limits.rlim_cur = std::min(bytes, limits.rlim_max);
    if (::setrlimit(RLIMIT_AS, &limits) != 0) std::abort();
}

/// Lets this process have only this many more bytes of address space.
void limit_memory_to(std::size_t more_bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit_memory_in_all(pages * 4096 + more_bytes);
}

/// Half a MiB for each of 16 chunks on each of two ranks are too much; for one they are there.
TEST(Failure, WhereMemoryIsShortOneChunkIsUnderWayAtATime) {
    if (sanitized) GTEST_SKIP() << "the sanitizer's own memory knows no such limit";
    const auto run = [] {
        Scenario shape = scenario("(0 1)", 4 << 20);
        shape.spec.chunk_elems = 256 << 10;
        shape.options.chunks_in_flight = 16;
        LoopbackWorld world(2);
        const auto first = make_executor(shape, world.channel(0));
        const auto second = make_executor(shape, world.channel(1));
        Floats in(4 << 20, 1.0F), first_out(in.size()), second_out(in.size());
        limit_memory_to(3 << 20);
        bool ok = first->start(binding_of(in, first_out)).ok() &&
                  second->start(binding_of(in, second_out)).ok();
        for (bool complete = false; ok && !complete;) {
            const auto a = first->advance();
            const auto b = second->advance();
            ok = a.ok() && b.ok();
            complete = ok && *a == Progress::complete && *b == Progress::complete;
        }
        ok = ok && first_out == second_out &&
             std::ranges::all_of(first_out, [](float value) { return value == 2; });
        std::_Exit(ok ? 0 : 1);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

/// Rank 1 lacks 8 MiB. The test has a process of its own: threads of others leave address space.
TEST(Failure, WhoHasNoMemoryAtAllTellsTheOthers) {
    if (sanitized) GTEST_SKIP() << "the sanitizer's own memory knows no such limit";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto run = [](std::uint64_t second_signature) {
        constexpr std::size_t count = 4 << 20;
        LoopbackWorld world(2);
        OperationNumbers numbers[] = {
            OperationNumbers(*TagLayout::make(world.channel(0).tag_limit(), 1)),
            OperationNumbers(*TagLayout::make(world.channel(1).tag_limit(), 1))};
        const Scenario shape = scenario("(0 1)", count);
        const auto one = make_executor(shape, world.channel(0));
        const auto other = make_executor(shape, world.channel(1));
        Floats in(count, 1.0F), one_out(count), other_out(count);
        const auto together = [&](std::uint64_t signature, bool short_of_memory) {
            Binding binding = binding_of(in, one_out);
            binding.signature = signature;
            binding.numbers = &numbers[0];
            const bool begun = one->start(binding).ok();
            if (short_of_memory) limit_memory_to(1 << 20);
            binding.output = other_out.data();
            binding.numbers = &numbers[1];
            std::pair<Status, Status> ended{{}, other->start(binding)};
            if (!begun || !ended.second.ok()) return ended;
            for (bool complete = false; !complete;) {
                const auto a = one->advance();
                const auto b = other->advance();
                if (!a.ok()) ended.first = a.status();
                if (!b.ok()) ended.second = b.status();
                complete =
                    (!a.ok() || *a == Progress::complete) && (!b.ok() || *b == Progress::complete);
            }
            return ended;
        };
        const auto failed = together(second_signature, true);
        bool ok = failed.first.code() == Code::peer_failed &&
                  failed.second.code() == Code::out_of_memory &&
                  says(failed.first, "not enough memory");
        limit_memory_in_all(RLIM_INFINITY);
        const auto next = together(7, false);
        for (const Status& status : {failed.first, failed.second, next.first, next.second})
            std::cerr << static_cast<int>(status.code()) << ": " << status.message() << "; ";
        ok = ok && next.first.ok() && next.second.ok() && one_out == other_out &&
             std::ranges::all_of(one_out, [](float value) { return value == 2; });
        std::_Exit(ok ? 0 : 1);
    };
    EXPECT_EXIT(run(0), testing::ExitedWithCode(0), "");  // nothing goes ahead
    EXPECT_EXIT(run(7), testing::ExitedWithCode(0), "");
}

TEST(Failure, TransportErrorEndsTheOperationAtOnce) {
    LoopbackWorld world(2, {.tamper = [](const LoopbackEnvelope&, std::span<std::byte>) {
                            return LoopbackOptions::breaks;
                        }});
    const auto one = make_executor(scenario("(0 1)", 100), world.channel(0));
    const auto other = make_executor(scenario("(0 1)", 100), world.channel(1));
    const Floats in(100, 1.0F);
    Floats one_out(100), other_out(100);
    ASSERT_TRUE(one->start(binding_of(in, one_out)).ok());
    ASSERT_TRUE(other->start(binding_of(in, other_out)).ok());
    const Status status = finish(*one);
    EXPECT_EQ(status.code(), Code::transport) << status.message();
    EXPECT_TRUE(says(status, "rank 1")) << status.message();
    EXPECT_EQ(*one->advance(), Progress::complete);
}

}  // namespace
}  // namespace gradcoll
