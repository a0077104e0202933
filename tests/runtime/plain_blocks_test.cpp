// Blocks that do not get shorter travel as plain elements: no message is longer than its header and
// its elements, and values are what they are without an encoding.
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>

#include "compress/block_lengths.hpp"
#include "compress/codec_id.hpp"
#include "compress/frame.hpp"
#include "runtime/thread_ranks.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

constexpr const char* trees[] = {"(0 1)", "(0 1 2)", "((0 1) (2 3 4))", "((0 (1 2)) 3 (4 5 6))"};
/// All of these have a rate that depends on data. None of them makes any of the values below
/// shorter, except for blocks that are all zeros.
constexpr const char* codecs[] = {"bound/abs=1e-12", "bound", "int8/abs=1e-12", "int4/rel=1e-9",
                                  "int16/abs=1e-12"};

CodecId codec_of(const std::string& name) {
    const Result<CodecId> codec = codec_from_name(name);
    if (!codec.ok()) throw std::runtime_error(codec.status().message());
    return *codec;
}

/// Whole numbers of 20 bits: sums are exact in any order.
Floats wide_input(int rank, std::int64_t count) {
    Floats values = dense_input(rank, count);
    for (float& value : values) value = std::trunc(value * 0x1p20F);
    return values;
}

/// Returns values of which 1500 in every 6000 elements, elsewhere on every rank, are 0.
Floats patchy_input(int rank, std::int64_t count) {
    Floats values = wide_input(rank, count);
    for (std::size_t i = 0; i < values.size(); ++i)
        if ((i / 1500 + static_cast<std::size_t>(rank)) % 4 == 0) values[i] = 0;
    return values;
}

/// Watched looks at all messages of lossy codecs.
class Watched {
  public:
    LoopbackOptions options() {
        LoopbackOptions watched;
        watched.delay_probability = 0.2;
        watched.tamper = [this](const LoopbackEnvelope&, std::span<std::byte> message) {
            look_at(message);
            return message.size();
        };
        return watched;
    }
    std::atomic<int> messages = 0, plain_messages = 0, mixed_messages = 0;
    std::atomic<std::uint64_t> bytes = 0;

  private:
    void look_at(std::span<const std::byte> message) {
        std::uint64_t count = 0;
        std::memcpy(&count, message.data() + 16, sizeof count);
        EXPECT_LE(message.size(), frame_header_bytes + count * sizeof(float));
        ++messages;
        bytes += message.size();
        const auto header = read_frame_header(message.data(), message.size());
        ASSERT_TRUE(header.ok()) << header.status().message();
        if (header->is_plain)
            ++plain_messages;
        else if (has_plain_blocks(message))
            ++mixed_messages;
    }
    static bool has_plain_blocks(std::span<const std::byte> message) {
        const BlockEntry first = read_block_entry(message.data() + frame_header_bytes);
        const BlockEntry second =
            read_block_entry(message.data() + frame_header_bytes + block_length_bytes);
        return first.is_plain_run || second.is_plain_run;
    }
};

void expect_values_of(const Scenario& shape, MakeInput input, Watched& watched) {
    Scenario exact = shape;
    exact.spec.choices = exact.spec.choices.with_codec(CodecId::exact);
    exact.spec.down_codec = CodecId::exact;
    const auto outcomes = allreduce(shape, input, watched.options());
    expect_all_equal(outcomes, allreduce(exact, input)[0].output);
}

TEST(PlainBlocks, NoMessageIsLongerThanItsElementsAndAHeader) {
    std::mt19937 random(19);
    const auto pick = [&](std::size_t count) { return random() % count; };
    const std::vector<Exchange> exchanges = split_exchanges();
    Watched watched;
    for (int round = 0; round < 250; ++round) {
        const std::string name = codecs[pick(std::size(codecs))];
        const std::int64_t longest = round % 5 == 0 ? 60'000 : 3'000;
        Scenario shape =
            scenario(trees[pick(std::size(trees))],
                     static_cast<std::int64_t>(1 + pick(static_cast<std::size_t>(longest))),
                     codec_of(name), exchanges[pick(exchanges.size())]);
        if (pick(2) == 0) shape.spec.chunk_elems = static_cast<std::int64_t>(512 * (1 + pick(20)));
        shape.spec.in_place = pick(2) == 0;
        shape.options.chunks_in_flight = 1 + static_cast<int>(pick(4));
        SCOPED_TRACE(name + " " + shape.tree + " " + std::to_string(shape.spec.count_elems) +
                     " elements, " + std::string(name_of(shape.spec.choices[0].exchange)));
        expect_values_of(shape, pick(2) == 0 ? wide_input : patchy_input, watched);
    }
    EXPECT_GT(watched.plain_messages, watched.messages / 4);
    EXPECT_GT(watched.mixed_messages, watched.messages / 60);
}

/// There are as many bytes as without a codec, and a header a message.
TEST(PlainBlocks, AddOnlyTheHeadersWhereNothingGetsShorter) {
    const Scenario shape = scenario("((0 1) (2 3 4))", 200'003, codec_of("int8/abs=1e-12"));
    const Scenario exact = scenario("((0 1) (2 3 4))", 200'003);
    Watched watched;
    expect_all_equal(allreduce(shape, wide_input, watched.options()),
                     allreduce(exact, wide_input)[0].output);
    std::uint64_t exact_bytes = 0;
    for (int rank = 0; rank < 5; ++rank)
        exact_bytes += bytes_sent(make_plan(exact.make_tree(), exact.spec, rank).value());
    EXPECT_EQ(watched.plain_messages, watched.messages);
    // Other granules, so that shares differ by a block.
    EXPECT_LE(watched.bytes, exact_bytes + static_cast<std::uint64_t>(watched.messages) *
                                               (frame_header_bytes + 512 * sizeof(float)));
}

/// The call says that nothing may be lost.
TEST(PlainBlocks, AreWhatACallWithoutAToleranceSends) {
    for (const char* name : {"int8/abs=call", "bound"}) {
        const Scenario shape = scenario("((0 1) (2 3 4))", 20'000, codec_of(name));
        Watched watched;
        expect_values_of(shape, wide_input, watched);
        EXPECT_EQ(watched.plain_messages, watched.messages) << name;
    }
}

/// What is left of plain elements is nothing, and what was left before leaves.
TEST(PlainBlocks, LeaveNoResidual) {
    Scenario shape = scenario("((0 1) 2)", 5'000, codec_of("bound/abs=1e-12"));
    shape.spec.feedback = true;
    LoopbackWorld world(3);
    on_all_ranks(world, 3, [&](Channel& channel) {
        const auto executor = make_executor(shape, channel);
        const Floats in = wide_input(channel.rank(), 5'000);
        Floats out(in.size());
        Floats residual(static_cast<std::size_t>(executor->plan().residual_elems()), 8.0F);
        Binding binding = binding_of(in, out);
        binding.residual = residual.data();
        ASSERT_TRUE(executor->start(binding).ok());
        ASSERT_TRUE(finish(*executor).ok());
        for (const float rest : residual) ASSERT_EQ(rest, 0.0F);
    });
}

/// Whatever arrives, nothing outside of the message is read (this says the sanitizer).
TEST(PlainBlocks, RandomBytesEndEveryRank) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        LoopbackOptions options;
        const auto random = std::make_shared<std::mt19937>(seed);
        options.tamper = [=](const LoopbackEnvelope&, std::span<std::byte> bytes) {
            auto& draw = *random;
            if (draw() % 4 != 0) return bytes.size();
            for (unsigned i = 0; i < 1 + draw() % 3; ++i)
                bytes[draw() % std::min<std::size_t>(100, bytes.size())] =
                    static_cast<std::byte>(draw());
            return draw() % 3 == 0 ? draw() % (bytes.size() + 1) : bytes.size();
        };
        const Scenario shape =
            scenario("((0 1) 2)", 6'000, codec_of("bound/abs=1e-12"), called("ring"));
        for (const Outcome& outcome : allreduce(shape, patchy_input, options))
            EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                        outcome.status.code() == Code::peer_failed)
                << outcome.status.message();
    }
}

}  // namespace
}  // namespace gradcoll
