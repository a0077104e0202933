// A codec of variable rate from end to end: the values of the same codec at a fixed rate, fewer
// bytes, and no length of a peer's that is believed.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "collectives/verify/verify.hpp"
#include "compress/block_lengths.hpp"
#include "compress/frame.hpp"
#include "runtime/device/device_ranks.hpp"
#include "runtime/program.hpp"
#include "runtime/spoiled_lengths.hpp"
#include "runtime/thread_ranks.hpp"
#include "runtime/variable_rate_codec.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

/// Calls is what all ranks did in some calls of one executor.
struct Calls {
    std::vector<std::vector<Floats>> outputs;  ///< one per rank, then one per call
    std::vector<Floats> residuals;             ///< one per rank, at the end
    std::vector<RunStats> stats;               ///< one per rank
    std::uint64_t planned_bytes = 0;           ///< bytes of one call of all ranks
};

constexpr std::uint32_t calls_each = 2;

/// Runs some calls, in which messages of different ranks overtake one another.
Calls run(const Scenario& shape, MakeInput input, bool variable) {
    use_variable_rate(variable);
    const int ranks = shape.rank_count();
    LoopbackOptions options;
    options.delay_probability = 0.2;
    options.seed = static_cast<std::uint64_t>(shape.spec.count_elems);
    LoopbackWorld world(ranks, options);
    Calls calls{std::vector<std::vector<Floats>>(static_cast<std::size_t>(ranks)),
                std::vector<Floats>(static_cast<std::size_t>(ranks)),
                std::vector<RunStats>(static_cast<std::size_t>(ranks)), 0};
    std::atomic<std::uint64_t> planned = 0;
    on_all_ranks(world, ranks, [&](Channel& channel) {
        const auto rank = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        planned += bytes_sent(executor->plan());
        Floats& residual = calls.residuals[rank];
        residual.resize(static_cast<std::size_t>(executor->plan().residual_elems()));
        const Floats in = input(channel.rank(), shape.spec.count_elems);
        for (std::uint32_t call = 0; call < calls_each; ++call) {
            Floats out = shape.spec.in_place ? in : Floats(in.size(), -99.0F);
            Binding binding = binding_of(shape.spec.in_place ? out : in, out, call);
            binding.residual = residual.data();
            const Status started = executor->start(binding);
            const Status ended = started.ok() ? finish(*executor) : started;
            EXPECT_TRUE(ended.ok()) << "rank " << rank << ": " << ended.message();
            calls.outputs[rank].push_back(std::move(out));
        }
        calls.stats[rank] = executor->stats();
    });
    calls.planned_bytes = planned;
    return calls;
}

std::uint64_t sent(const Calls& calls) {
    std::uint64_t bytes = 0;
    for (const RunStats& stats : calls.stats) bytes += stats.bytes_sent;
    return bytes;
}

void expect_plans_verified(const Scenario& shape) {
    use_variable_rate(true);
    const Tree tree = shape.make_tree();
    std::vector<Plan> plans;
    for (int rank = 0; rank < tree.rank_count(); ++rank)
        plans.push_back(make_plan(tree, shape.spec, rank).value());
    const Status proved = verify(tree, plans);
    EXPECT_TRUE(proved.ok()) << proved.message();
}

void expect_same_values(const Scenario& shape, MakeInput input) {
    const Calls fixed = run(shape, input, false);
    const Calls variable = run(shape, input, true);
    EXPECT_EQ(variable.outputs, fixed.outputs);
    EXPECT_EQ(variable.residuals, fixed.residuals);
    for (const auto& outputs : variable.outputs) EXPECT_EQ(outputs, variable.outputs[0]);
    EXPECT_LE(sent(variable), calls_each * variable.planned_bytes);
    EXPECT_EQ(sent(fixed), calls_each * fixed.planned_bytes);
}

constexpr const char* trees[] = {"(0 1)",
                                 "(0 1 2)",
                                 "(0 1 2 3 4)",
                                 "((0 1) (2 3 4))",
                                 "((0 (1 2)) 3)",
                                 "((0 (1 2)) 3 (4 5 6 7))",
                                 "((0 1) (2 3) (4 (5 6)))"};

/// Returns sparse values: most blocks are shorter than their bound. Half of all elements have
/// values in places, so that some are not.
Floats patchy_input(int rank, std::int64_t count) {
    Floats values = dense_input(rank, count);
    for (std::size_t i = 0; i < values.size(); ++i)
        if ((i / 700 + static_cast<std::size_t>(rank)) % 3 != 0) values[i] = 0;
    return values;
}

TEST(VariableRate, GivesTheValuesOfTheSameCodecAtAFixedRateForRandomShapes) {
    std::mt19937 random(7);
    const auto pick = [&](std::size_t count) { return random() % count; };
    const std::vector<Exchange> exchanges = split_exchanges();
    for (int round = 0; round < 200; ++round) {
        Scenario shape = scenario(trees[pick(std::size(trees))], 1 + pick(30'000), test_codec,
                                  exchanges[pick(exchanges.size())]);
        if (pick(2) == 0) shape.spec.chunk_elems = 512 * (1 + pick(20));
        shape.spec.in_place = pick(2) == 0;
        shape.spec.feedback = pick(2) == 0;
        if (pick(4) == 0) shape.spec.down_codec = CodecId::exact;
        shape.options.chunks_in_flight = 1 + static_cast<int>(pick(4));
        SCOPED_TRACE(shape.tree + " " + std::to_string(shape.spec.count_elems) +
                     " elements, chunk " + std::to_string(shape.spec.chunk_elems) + ", " +
                     std::string(name_of(shape.spec.choices[0].exchange)));
        expect_plans_verified(shape);
        expect_same_values(shape, pick(2) == 0 ? patchy_input : dense_input);
    }
}

TEST(VariableRate, GivesTheSumWithFewerBytesThanItsBound) {
    for (const char* tree : trees)
        for (const Exchange exchange : split_exchanges()) {
            const Scenario shape = scenario(tree, 20'011, test_codec, exchange);
            SCOPED_TRACE(std::string(tree) + " " + std::string(name_of(exchange)));
            const Calls calls = run(shape, sparse_input, true);
            const Floats sum = sum_of_all(sparse_input, shape.rank_count(), 20'011);
            for (const auto& outputs : calls.outputs)
                EXPECT_EQ(outputs, std::vector<Floats>(calls_each, sum));
            // One value in 16 is sent, with its place; a sum of several has no more.
            EXPECT_LT(sent(calls), calls_each * calls.planned_bytes / 4);
        }
}

/// Levels may differ: values of an exact one are sent as they are.
TEST(VariableRate, MayBeTheCodecOfSomeLevels) {
    for (const bool above : {false, true}) {
        Scenario shape = scenario("((0 1) (2 3 4))", 9'000, test_codec);
        std::vector<VertexChoice> choices(shape.spec.choices.begin(), shape.spec.choices.end());
        for (std::size_t vertex = 0; vertex < choices.size(); ++vertex)
            if ((vertex == 0) != above) choices[vertex].codec = CodecId::exact;
        shape.spec.choices = choices;
        expect_plans_verified(shape);
        expect_same_values(shape, patchy_input);
    }
}

/// A message of one encoding leaves from where that was written, one of several is put together
/// elsewhere: both ways are taken by some rank of this tree.
TEST(VariableRate, MessagesOfSeveralStepsGetRoomBehindTheScratch) {
    use_variable_rate(true);
    const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, test_codec);
    int in_place = 0, behind = 0;
    for (int rank = 0; rank < 5; ++rank) {
        const Plan plan = make_plan(shape.make_tree(), shape.spec, rank).value();
        const Program program = Program::make(plan.body, 4).value();
        for (const Step& step : plan.body.steps) {
            if (step.kind != StepKind::send) continue;
            const bool is_behind =
                program.blocks().message_offset(step.from) >= plan.body.scratch_bytes;
            ++(is_behind ? behind : in_place);
        }
    }
    EXPECT_GT(in_place, 0);
    EXPECT_GT(behind, 0);
}

// ---- what a peer may send

/// Spoiled messages go up (a sum) and down (an encoding that is passed on, and one that is put
/// together).
TEST(VariableRate, SpoiledLengthsAreRefusedOnTheWayUpAndDown) {
    use_variable_rate(true);
    const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, test_codec);
    std::vector<SpoiledLength> all(std::begin(spoiled_lengths), std::end(spoiled_lengths));
    all.push_back({"bytes that are no encoding", [](std::span<std::byte> message) {
                       std::fill(message.end() - 4, message.end() - 2, std::byte{0xee});
                       return message.size();
                   }});
    for (const SpoiledLength& spoiled : all)
        for (const int number : {0, 1}) {
            SCOPED_TRACE(std::string(spoiled.what) + ", message " + std::to_string(number));
            LoopbackWorld world(5, spoil(3, 2, number, spoiled.change));
            std::vector<Outcome> first(5), second(5);
            on_all_ranks(world, 5, [&](Channel& channel) {
                const auto at = static_cast<std::size_t>(channel.rank());
                const auto executor = make_executor(shape, channel);
                first[at] = run_once(*executor, sparse_input, 0);
                second[at] = run_once(*executor, sparse_input, 1);
            });
            EXPECT_EQ(first[2].status.code(), Code::corrupt) << first[2].status.message();
            for (const Outcome& outcome : first)
                EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                            outcome.status.code() == Code::peer_failed)
                    << outcome.status.message();
            expect_all_equal(second, sum_of_all(sparse_input, 5, 20'000));
        }
}

/// Whatever the lengths are, nothing outside of the message is read (this says the sanitizer).
TEST(VariableRate, RandomLengthsNeverLeadOutsideTheMessage) {
    use_variable_rate(true);
    const Scenario shape = scenario("((0 1) 2)", 6'000, test_codec, called("ring"));
    for (unsigned seed = 0; seed < 100; ++seed) {
        LoopbackOptions options;
        const auto random = std::make_shared<std::mt19937>(seed);
        options.tamper = [=](const LoopbackEnvelope&, std::span<std::byte> bytes) {
            auto& draw = *random;
            if (draw() % 4 != 0) return bytes.size();
            for (unsigned i = 0; i < 1 + draw() % 3; ++i) {
                const std::size_t at =
                    frame_header_bytes + draw() % std::min<std::size_t>(64, bytes.size() - 64);
                bytes[at] = static_cast<std::byte>(draw());
            }
            return draw() % 3 == 0 ? frame_header_bytes + draw() % (bytes.size() - 64)
                                   : bytes.size();
        };
        for (const Outcome& outcome : allreduce(shape, patchy_input, options))
            EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                        outcome.status.code() == Code::peer_failed)
                << outcome.status.message();
    }
}

// ---- frames

TEST(VariableRate, FrameHasTheBytesThatTheReadmeShows) {
    use_variable_rate(true);
    std::vector<std::byte> message(frame_front_bytes(test_codec, 600) + 13);
    write_frame_header({test_codec, {}, ElementType::f32, false, 600, message.size() - 64},
                       message.data());
    BlockLengthsWriter lengths(message.data() + 64);
    lengths.add_encoded(10);
    lengths.add_encoded(3);
    const unsigned char expected[72] = {'G', 'C', 'F', '1',  4, 0, 5, 2, 2, 0, 0, 0, 0,
                                        0,   0,   0,   0x58, 2, 0, 0, 0, 0, 0, 0, 21};
    unsigned char whole[72];
    std::memcpy(whole, expected, sizeof whole);
    whole[64] = 10;
    whole[68] = 3;
    EXPECT_EQ(std::memcmp(message.data(), whole, sizeof whole), 0);
    const auto got = read_frame_header(message.data(), message.size());
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_TRUE(check_frame(*got, {test_codec, {}, ElementType::f32, false, 600, 21}).ok());
    EXPECT_TRUE(check_frame(*got, {test_codec, {}, ElementType::f32, false, 600, 400}).ok());
    EXPECT_EQ(check_frame(*got, {test_codec, {}, ElementType::f32, false, 600, 20}).code(),
              Code::corrupt);
}

// ---- devices

/// A peer's device may be read; messages of variable rate are none the less as long as they are.
TEST(VariableRate, IsSentAsItIsWherePeersReadDevices) {
    use_variable_rate(true);
    Scenario shape = scenario("(0 1 2)", 200'000, test_codec);
    const auto outcomes =
        allreduce_beside_devices(shape, sparse_input, [](const Executor& executor) {
            EXPECT_LT(executor.stats().bytes_sent, bytes_sent(executor.plan()) / 4);
        });
    expect_all_equal(outcomes, sum_of_all(sparse_input, 3, 200'000));
}

}  // namespace
}  // namespace gradcoll
