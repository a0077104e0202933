// The executor's results, with ranks as threads.
#include "runtime/executor.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "collectives/build/planner.hpp"
#include "runtime/thread_ranks.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

constexpr const char* trees[] = {"(0 1)",
                                 "(0 1 2)",
                                 "((0 1) (2 3 4))",
                                 "(0 (1 2 3 4 5))",
                                 "((0 (1 2)) 3 (4 5 6 7))",
                                 "(((3 1) 0) (2 4))",
                                 "rank:2((0 1) rank:4(3))"};

void expect_right(const Scenario& scenario) {
    const int ranks = scenario.rank_count();
    const Floats expected = sum_of_all(sparse_input, ranks, scenario.spec.count_elems);
    expect_all_equal(allreduce(scenario, sparse_input), expected);
}

TEST(Executor, ExactSumOverLopsidedTreesEqualsTheReference) {
    for (const char* tree : trees)
        for (const std::int64_t count : {1, 7, 1000, 4099}) {
            SCOPED_TRACE(std::string(tree) + " " + std::to_string(count));
            expect_right(scenario(tree, count));
            for (const Exchange exchange : split_exchanges())
                expect_right(scenario(tree, count, CodecId::exact, exchange));
            expect_right(scenario(tree, count, CodecId::exact, Exchange::single));
        }
}

/// Each quantizer has this many steps between the least and the largest value of a block.
constexpr std::pair<CodecId, double> quantizers[] = {
    {CodecId::int4, 15},         {CodecId::int8, 255},        {CodecId::int16, 65535},
    {CodecId::nm_2_4_int8, 255}, {CodecId::nm_1_4_int8, 255}, {CodecId::nm_2_4_int4, 15}};

TEST(Executor, EveryCodecGivesTheSumOfWhatItCanCarry) {
    for (const CodecId codec : all_codecs()) {
        if (std::any_of(std::begin(quantizers), std::end(quantizers),
                        [codec](const auto& quantizer) { return quantizer.first == codec; }))
            continue;  // below
        for (const Exchange exchange : split_exchanges()) {
            SCOPED_TRACE(name_of(codec));
            expect_right(scenario("((0 1) (2 3 4))", 10'007, codec, exchange));
        }
    }
}

/// An element is encoded at most four times on its way up and once on its way down, and is off by
/// half a step each time.
TEST(Executor, QuantizersGiveTheSumWithinTheirSteps) {
    for (const auto& [codec, steps] : quantizers)
        for (const Exchange exchange : split_exchanges()) {
            SCOPED_TRACE(name_of(codec));
            const Scenario shape = scenario("((0 1) (2 3 4))", 10'007, codec, exchange);
            const auto outcomes = allreduce(shape, sparse_input);
            expect_all_equal(outcomes, outcomes[0].output);
            const Floats expected = sum_of_all(sparse_input, 5, 10'007);
            const float largest = *std::max_element(expected.begin(), expected.end());
            for (std::size_t i = 0; i < expected.size(); ++i)
                ASSERT_NEAR(outcomes[0].output[i], expected[i], largest * (2.5 / steps + 1e-5));
        }
}

TEST(Executor, EveryCodecLeavesTheSameBitsOnAllRanks) {
    for (const CodecId codec : all_codecs()) {
        SCOPED_TRACE(name_of(codec));
        const auto outcomes =
            allreduce(scenario("((0 (1 2)) 3 (4 5))", 10'007, codec), dense_input);
        expect_all_equal(outcomes, outcomes[0].output);
    }
}

TEST(Executor, ChunksOfAnySizeInAnyWindowGiveTheSum) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4})
        for (const int window : {1, 2, 16})
            for (const std::int64_t chunk : {512, 1024, 8192}) {
                SCOPED_TRACE(std::to_string(window) + " chunks of " + std::to_string(chunk));
                Scenario chunked = scenario("((0 1) (2 3 4))", 8192 + 300, codec);
                chunked.spec.chunk_elems = chunk;
                chunked.options.chunks_in_flight = window;
                for (const bool paced : {false, true}) {
                    chunked.options.paced = paced;
                    expect_right(chunked);
                }
            }
}

TEST(Executor, SingleExchangesLeaveTheSameBitsOnAllRanksInPlaceToo) {
    for (const bool in_place : {false, true}) {
        Scenario shape = scenario("((0 (1 2)) 3 (4 5))", 1'007, CodecId::exact, Exchange::single);
        shape.spec.in_place = in_place;
        const auto outcomes = allreduce(shape, dense_input);
        expect_all_equal(outcomes, outcomes[0].output);
    }
}

TEST(Executor, MergedVerticesGiveTheSum) {
    for (const Exchange above : {Exchange::direct, called("recursive"), Exchange::single}) {
        Scenario shape = scenario("((0 (1 2)) 3 (4 5 6 7))", 4'099);
        std::vector<VertexChoice> choices(shape.spec.choices.size());
        choices[0].exchange = above;
        choices[1].exchange = Exchange::merged;
        choices[3].exchange = Exchange::merged;
        shape.spec.choices = choices;
        expect_right(shape);
    }
}

TEST(Executor, InPlaceGivesTheSameAsOutOfPlace) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::bf16}) {
        Scenario shape = scenario("((0 1) (2 3 4))", 5000, codec);
        const auto apart = allreduce(shape, dense_input);
        shape.spec.in_place = true;
        expect_all_equal(allreduce(shape, dense_input), apart[0].output);
    }
}

TEST(Executor, OneRankCopiesItsInput) {
    expect_right(scenario("0", 100));
}

TEST(Executor, EmptyVectorCompletesAtOnce) {
    expect_right(scenario("(0 1)", 0));
}

TEST(Executor, DoublesAreReducedWithTheGivenOperation) {
    Scenario shape = scenario("(0 (1 2))", 333);
    shape.spec.type = ElementType::f64;
    shape.spec.elem_bytes = 8;
    LoopbackWorld world(3);
    on_all_ranks(world, 3, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        std::vector<double> in(333, channel.rank() + 0.5), out(333);
        Binding binding;
        binding.input = in.data();
        binding.output = out.data();
        binding.reducer = reducer_for(ReduceOp::max, ElementType::f64);
        ASSERT_TRUE(executor->start(binding).ok());
        ASSERT_TRUE(finish(*executor).ok());
        EXPECT_EQ(out, std::vector<double>(333, 2.5));
    });
}

TEST(Executor, ReduceScatterBlockLeavesEveryRankItsBlockOfTheSum) {
    Scenario shape = scenario("((0 1) (2 3 4))", 5 * 700);
    shape.spec.collective = Collective::reduce_scatter_block;
    LoopbackWorld world(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        const Floats in = whole_input(channel.rank(), 5 * 700);
        Floats out(700);
        ASSERT_TRUE(executor->start(binding_of(in, out)).ok());
        ASSERT_TRUE(finish(*executor).ok());
        const Floats all = sum_of_all(whole_input, 5, 5 * 700);
        const auto first = all.begin() + channel.rank() * 700;
        EXPECT_EQ(out, Floats(first, first + 700));
    });
}

TEST(Executor, AllgatherLeavesEveryBlockOnEveryRank) {
    Scenario shape = scenario("((0 1) (2 3 4))", 5 * 700);
    shape.spec.collective = Collective::allgather;
    Floats expected;
    for (int rank = 0; rank < 5; ++rank) {
        const Floats block = dense_input(rank, 700);
        expected.insert(expected.end(), block.begin(), block.end());
    }
    LoopbackWorld world(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        const Floats in = dense_input(channel.rank(), 700);
        Floats out(5 * 700);
        ASSERT_TRUE(executor->start(binding_of(in, out)).ok());
        ASSERT_TRUE(finish(*executor).ok());
        EXPECT_EQ(out, expected);
    });
}

double total(const Floats& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Nothing is lost for good: what came out, and what is still held back somewhere, is what went in.
TEST(Executor, FeedbackKeepsWhatTheCodecDrops) {
    constexpr int rounds = 5, ranks = 5;
    constexpr std::int64_t count = 3 * 2048 + 100;
    Scenario shape = scenario("((0 1) (2 3 4))", count, CodecId::nm_2_4);
    shape.spec.feedback = true;
    shape.spec.chunk_elems = 2048;
    LoopbackWorld world(ranks);
    std::vector<double> held_back(ranks), received(ranks);
    on_all_ranks(world, ranks, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        Floats residual(static_cast<std::size_t>(executor->plan().residual_elems()), 0.0F);
        const Floats in = whole_input(channel.rank(), count);
        Floats out(in.size());
        for (std::uint32_t round = 0; round < rounds; ++round) {
            Binding binding = binding_of(in, out, round);
            binding.residual = residual.data();
            ASSERT_TRUE(executor->start(binding).ok());
            ASSERT_TRUE(finish(*executor).ok());
            received[at] += total(out);
        }
        held_back[at] = total(residual);
        EXPECT_NE(residual, Floats(residual.size(), 0.0F));
    });
    const double given = rounds * total(sum_of_all(whole_input, ranks, count));
    const double kept = std::accumulate(held_back.begin(), held_back.end(), 0.0);
    for (const double one : received) EXPECT_EQ(one + kept, given);
}

TEST(Executor, RunAndWaitReachTheEndAndCountWhatWasSent) {
    Scenario shape = scenario("((0 1) (2 3 4))", 20'000, CodecId::nm_2_4);
    shape.spec.chunk_elems = 4096;
    shape.options.timed = true;
    LoopbackWorld world(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        const Floats in = sparse_input(channel.rank(), 20'000);
        Floats out(in.size());
        for (std::uint32_t sequence = 0; sequence < 3; ++sequence) {
            const Status status = executor->run(binding_of(in, out, sequence));
            ASSERT_TRUE(status.ok()) << status.message();
        }
        EXPECT_EQ(out, sum_of_all(sparse_input, 5, 20'000));
        EXPECT_EQ(executor->stats().bytes_sent, 3 * bytes_sent(executor->plan()));
        EXPECT_GT(executor->stats().messages_sent, 0U);
        EXPECT_GT(executor->stats().codec_ns, 0U);
    });
}

TEST(Executor, BadOptionsAndBindingsAreRefusedByName) {
    LoopbackWorld world(2);
    const Scenario shape = scenario("(0 1)", 100);
    const auto plan = std::make_shared<const Plan>(*make_plan(shape.make_tree(), shape.spec, 0));
    const auto window = Executor::make(plan, world.channel(0), {.chunks_in_flight = 17});
    ASSERT_FALSE(window.ok());
    EXPECT_NE(window.status().message().find("17"), std::string::npos);
    EXPECT_EQ(Executor::make(plan, world.channel(1), {}).status().code(), Code::invalid_argument);
    const auto executor = make_executor(shape, world.channel(0));
    Floats data(100);
    Binding binding = binding_of(data, data);
    binding.input = nullptr;
    EXPECT_EQ(executor->start(binding).code(), Code::invalid_buffer);
    binding = binding_of(data, data);
    binding.reducer = {};
    EXPECT_EQ(executor->start(binding).code(), Code::invalid_op);
    EXPECT_EQ(*executor->advance(), Progress::complete);
    ASSERT_TRUE(executor->start(binding_of(data, data)).ok());
    EXPECT_EQ(executor->start(binding_of(data, data)).code(), Code::internal);
}

}  // namespace
}  // namespace gradcoll
