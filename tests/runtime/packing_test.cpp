// Messages that are packed without loss, from end to end: the same values and residuals as without,
// fewer bytes, and nothing of a peer's that is believed.
#include <atomic>
#include <random>

#include "compress/codec_id.hpp"
#include "runtime/device/device_ranks.hpp"
#include "runtime/spoil.hpp"
#include "runtime/thread_ranks.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

constexpr const char* trees[] = {"(0 1)", "(0 1 2)", "((0 1) (2 3 4))", "((0 (1 2)) 3 (4 5 6))"};
constexpr const char* codecs[] = {"int8", "2:4+int8", "bf16", "bound", "bound/abs=1e-2"};

CodecId codec_of(const std::string& name) {
    const Result<CodecId> codec = codec_from_name(name);
    if (!codec.ok()) throw std::runtime_error(codec.status().message());
    return *codec;
}

/// Calls is what all ranks did in some calls of one executor.
struct Calls {
    std::vector<std::vector<Floats>> outputs;  ///< one per rank, then one per call
    std::vector<Floats> residuals;             ///< one per rank
    RunStats stats;                            ///< sums over all ranks
};

Calls run(const Scenario& shape, MakeInput input) {
    const int ranks = shape.rank_count();
    LoopbackOptions options;
    options.delay_probability = 0.2;
    LoopbackWorld world(ranks, options);
    const auto count = static_cast<std::size_t>(ranks);
    Calls calls{std::vector<std::vector<Floats>>(count), std::vector<Floats>(count), {}};
    std::vector<RunStats> stats(count);
    on_all_ranks(world, ranks, [&](Channel& channel) {
        const auto rank = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        Floats& residual = calls.residuals[rank];
        residual.resize(static_cast<std::size_t>(executor->plan().residual_elems()));
        const Floats in = input(channel.rank(), shape.spec.count_elems);
        for (std::uint32_t call = 0; call < 2; ++call) {
            Floats out(in.size(), -99.0F);
            Binding binding = binding_of(in, out, call);
            binding.residual = residual.data();
            binding.tolerance = 0.05;
            const Status started = executor->start(binding);
            const Status ended = started.ok() ? finish(*executor) : started;
            EXPECT_TRUE(ended.ok()) << "rank " << rank << ": " << ended.message();
            calls.outputs[rank].push_back(std::move(out));
        }
        stats[rank] = executor->stats();
    });
    for (const RunStats& one : stats) {
        calls.stats.bytes_sent += one.bytes_sent;
        calls.stats.packed_away_bytes += one.packed_away_bytes;
        calls.stats.messages_sent += one.messages_sent;
    }
    return calls;
}

/// `shape` has the codec `name` without packing. Returns what the packed run sent.
RunStats expect_same_values(Scenario shape, const std::string& name, const std::string& packing,
                            MakeInput input) {
    const Calls plain = run(shape, input);
    const auto packed_codec = codec_of(name + packing);
    shape.spec.choices = shape.spec.choices.with_codec(packed_codec);
    if (shape.spec.down_codec != CodecId::exact) shape.spec.down_codec = packed_codec;
    const Calls packed = run(shape, input);
    EXPECT_EQ(packed.outputs, plain.outputs);
    EXPECT_EQ(packed.residuals, plain.residuals);
    for (const auto& outputs : packed.outputs) EXPECT_EQ(outputs, packed.outputs[0]);
    EXPECT_EQ(plain.stats.packed_away_bytes, 0U);
    EXPECT_EQ(packed.stats.bytes_sent + packed.stats.packed_away_bytes, plain.stats.bytes_sent);
    EXPECT_EQ(packed.stats.messages_sent, plain.stats.messages_sent);
    return packed.stats;
}

TEST(PackedMessages, GiveTheValuesAndResidualsThatOthersGive) {
    std::mt19937 random(11);
    const auto pick = [&](std::size_t count) { return random() % count; };
    const std::vector<Exchange> exchanges = split_exchanges();
    for (int round = 0; round < 120; ++round) {
        const std::string name = codecs[pick(std::size(codecs))];
        Scenario shape =
            scenario(trees[pick(std::size(trees))], static_cast<std::int64_t>(1 + pick(30'000)),
                     codec_of(name), exchanges[pick(exchanges.size())]);
        if (pick(2) == 0) shape.spec.chunk_elems = static_cast<std::int64_t>(512 * (1 + pick(20)));
        shape.spec.granule_elems = lossy_block_elems;
        shape.spec.feedback = pick(2) == 0;
        if (pick(4) == 0) shape.spec.down_codec = CodecId::exact;
        shape.options.chunks_in_flight = 1 + static_cast<int>(pick(4));
        SCOPED_TRACE(name + " " + shape.tree + " " + std::to_string(shape.spec.count_elems));
        expect_same_values(shape, name, pick(2) == 0 ? "+zstd" : "+lz4",
                           pick(2) == 0 ? sparse_input : dense_input);
    }
}

TEST(PackedMessages, AreShorterWhereThereIsSomethingToFind) {
    for (const char* packing : {"+zstd", "+lz4"})
        for (const char* tree : trees)
            for (const Exchange exchange : split_exchanges()) {
                const Scenario shape = scenario(tree, 40'000, CodecId::int8, exchange);
                SCOPED_TRACE(std::string(tree) + packing + " " + std::string(name_of(exchange)));
                const RunStats sent = expect_same_values(shape, "int8", packing, sparse_input);
                EXPECT_GT(sent.packed_away_bytes, 2 * sent.bytes_sent);
            }
}

/// Uniform values of int8 leave lz4 nothing.
TEST(PackedMessages, AreNoLongerWhereThereIsNothing) {
    const Scenario shape = scenario("((0 1) (2 3 4))", 40'000, CodecId::int8);
    EXPECT_EQ(expect_same_values(shape, "int8", "+lz4", dense_input).packed_away_bytes, 0U);
}

/// The levels belong to one plan.
TEST(PackedMessages, OfLevelsMayDiffer) {
    Scenario shape = scenario("((0 1) (2 3 4))", 30'000, codec_of("int8+zstd"));
    shape.spec.granule_elems = lossy_block_elems;
    std::vector<VertexChoice> choices(shape.spec.choices.begin(), shape.spec.choices.end());
    for (std::size_t vertex = 1; vertex < choices.size(); ++vertex)
        choices[vertex].codec = codec_of("bf16+lz4");
    shape.spec.choices = choices;
    const Calls calls = run(shape, sparse_input);
    EXPECT_GT(calls.stats.packed_away_bytes, 0U);
    for (const auto& outputs : calls.outputs) EXPECT_EQ(outputs, calls.outputs[0]);
}

/// Only what goes between the hosts of "((0 1) (2 3 4))", up and down, is packed.
TEST(PackedMessages, ArePlainBetweenRanksOfOneHost) {
    Scenario shape = scenario("((0 1) (2 3 4))", 30'000, codec_of("int8+zstd"));
    const Calls all = run(shape, sparse_input);
    shape.options.plain_peers = {0, 1, 2, 3, 4};
    EXPECT_EQ(run(shape, sparse_input).stats.packed_away_bytes, 0U);
    LoopbackWorld world(5);
    std::vector<RunStats> stats(5);
    std::vector<Outcome> outcomes(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto rank = static_cast<std::size_t>(channel.rank());
        Scenario own = shape;
        own.options.plain_peers = rank < 2 ? std::vector{0, 1} : std::vector{2, 3, 4};
        const auto executor = make_executor(own, channel);
        outcomes[rank] = run_once(*executor, sparse_input);
        stats[rank] = executor->stats();
    });
    std::uint64_t packed_away = 0;
    for (const RunStats& one : stats) packed_away += one.packed_away_bytes;
    EXPECT_GT(packed_away, 0U);
    EXPECT_LT(packed_away, all.stats.packed_away_bytes / 2);
    for (const Outcome& outcome : outcomes) {
        EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
        EXPECT_EQ(outcome.output, all.outputs[0][0]);
    }
}

// ---- what a peer may send

struct Spoiled {
    const char* what;
    const char* said;
    Spoil spoil;
};
const Spoiled spoiled_messages[] = {
    {"a broken header", "magic", break_magic},
    {"a message that was cut", "payload bytes", cut},
    {"packed bytes that are none", "is no packing of", fill_payload},
    {"more than its slot has room for", "plain payload bytes",
     [](std::span<std::byte> message) {
         message[60] = std::byte{1};
         return message.size();
     }},
    {"another packing", "packing is lz4, expected zstd",
     [](std::span<std::byte> message) {
         message[9] = std::byte{2};
         return message.size();
     }},
    {"no packing at all", "bytes",
     [](std::span<std::byte> message) {
         message[9] = std::byte{0};
         return message.size();
     }},
};

/// Spoiled messages go up (from 3 to 2, from 0 to 1) and down.
TEST(PackedMessages, SpoiledOnesAreRefusedAndEveryRankEnds) {
    for (const char* name : {"int8+zstd", "bound/abs=1e-2+zstd"})
        for (const Spoiled& spoiled : spoiled_messages)
            for (const auto& [source, destination] : {std::pair{3, 2}, std::pair{0, 1}}) {
                SCOPED_TRACE(std::string(name) + ": " + spoiled.what);
                const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, codec_of(name));
                LoopbackWorld world(5, spoil_once(source, destination, spoiled.spoil));
                std::vector<Outcome> first(5), second(5);
                on_all_ranks(world, 5, [&](Channel& channel) {
                    const auto at = static_cast<std::size_t>(channel.rank());
                    const auto executor = make_executor(shape, channel);
                    first[at] = run_once(*executor, sparse_input, 0);
                    second[at] = run_once(*executor, sparse_input, 1);
                });
                const Status& met = first[static_cast<std::size_t>(destination)].status;
                EXPECT_EQ(met.code(), Code::corrupt) << met.message();
                const std::string from = "message from rank " + std::to_string(source);
                EXPECT_NE(met.message().find(from), std::string::npos) << met.message();
                EXPECT_NE(met.message().find(spoiled.said), std::string::npos) << met.message();
                for (const Outcome& outcome : first) EXPECT_FALSE(outcome.status.ok());
                for (const Outcome& outcome : second) {
                    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
                    EXPECT_EQ(outcome.output, second[0].output);
                }
            }
}

/// Whatever arrives, nothing outside of the chunk's memory is touched (this says the sanitizer).
TEST(PackedMessages, RandomBytesEndEveryRank) {
    for (const char* name : {"int8+zstd", "bound/abs=1e-2+lz4"})
        for (unsigned seed = 0; seed < 60; ++seed) {
            LoopbackOptions options;
            const auto random = std::make_shared<std::mt19937>(seed);
            options.tamper = [=](const LoopbackEnvelope&, std::span<std::byte> bytes) {
                auto& draw = *random;
                if (draw() % 3 != 0) return bytes.size();
                for (unsigned i = 0; i < 1 + draw() % 3; ++i)
                    bytes[draw() % bytes.size()] = static_cast<std::byte>(draw());
                return draw() % 4 == 0 ? 1 + draw() % bytes.size() : bytes.size();
            };
            const Scenario shape = scenario("((0 1) 2)", 6'000, codec_of(name), called("ring"));
            for (const Outcome& outcome : allreduce(shape, sparse_input, options))
                EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                            outcome.status.code() == Code::peer_failed)
                    << outcome.status.message();
        }
}

/// A rank whose codec packs meets one whose codec does not: both are told.
TEST(PackedMessages, AreRefusedByARankThatDoesNotPack) {
    LoopbackWorld world(2);
    std::vector<Outcome> outcomes(2);
    on_all_ranks(world, 2, [&](Channel& channel) {
        const bool packs = channel.rank() == 0;
        const auto executor = make_executor(
            scenario("(0 1)", 20'000, codec_of(packs ? "int8+zstd" : "int8")), channel);
        outcomes[static_cast<std::size_t>(channel.rank())] = run_once(*executor, sparse_input);
    });
    EXPECT_EQ(outcomes[1].status.code(), Code::corrupt) << outcomes[1].status.message();
    EXPECT_EQ(outcomes[0].status.code(), Code::peer_failed) << outcomes[0].status.message();
}

// ---- devices

/// A peer's device may be read; what is packed on the host comes as a message all the same.
TEST(PackedMessages, AreSentWherePeersReadDevices) {
    const Scenario shape = scenario("(0 1 2)", 200'000, codec_of("2:4+zstd"));
    const auto outcomes =
        allreduce_beside_devices(shape, sparse_input, [](const Executor& executor) {
            EXPECT_GT(executor.stats().packed_away_bytes, executor.stats().bytes_sent);
        });
    expect_all_equal(outcomes, sum_of_all(sparse_input, 3, 200'000));
}

}  // namespace
}  // namespace gradcoll
