// Codecs of variable rate whose data are on a device: the bits and the messages of the host, and no
// length of a peer's that is believed.
#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "runtime/device/device_ranks.hpp"
#include "runtime/spoiled_lengths.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

/// Returns blocks of all kinds: constants, values that fit the tolerances below, and others that do
/// not.
Floats mixed_input(int rank, std::int64_t count) {
    Floats values = dense_input(rank, count);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t part = i / 1500 % 4;
        if (part == 0) values[i] = 0.5F;
        if (part == 1) values[i] *= 1e-3F;
        if (part == 2 && i % 64 == 0) values[i] *= 1e6F;
        if (part == 3) values[i] *= 1e9F;
    }
    return values;
}

struct Case {
    const char* codec;
    const char* tree;
    std::int64_t count;
    const char* exchange;
    std::int64_t chunk;  ///< elements; 0: one chunk
};

Scenario scenario_of(const Case& c) {
    Scenario made =
        scenario(c.tree, c.count, codec_from_name(c.codec).value(),
                 std::string(c.exchange) == "direct" ? Exchange::direct : called(c.exchange));
    made.spec.chunk_elems = c.chunk;
    return made;
}

/// Wire keeps what travels between which ranks, without acknowledgements.
class Wire {
  public:
    LoopbackOptions options() {
        LoopbackOptions options;
        options.tamper = [this](const LoopbackEnvelope& envelope, std::span<std::byte> message) {
            const std::scoped_lock lock(mutex_);
            if (message.size() > 1)
                messages_[{envelope.source, envelope.destination}].emplace_back(message.begin(),
                                                                                message.end());
            return message.size();
        };
        return options;
    }
    /// Returns the messages by sender and receiver, sorted.
    auto messages() {
        for (auto& [ranks, all] : messages_) std::sort(all.begin(), all.end());
        return messages_;
    }

  private:
    std::mutex mutex_;
    std::map<std::pair<int, int>, std::vector<std::vector<std::byte>>> messages_;
};

class DeviceVariableRate : public testing::TestWithParam<Case> {};

TEST_P(DeviceVariableRate, SendsTheBytesOfTheHostAndGivesItsBits) {
    const Scenario scenario = scenario_of(GetParam());
    Wire on_host, on_device;
    const auto expected = allreduce(scenario, mixed_input, on_host.options());
    for (const Outcome& outcome : expected) ASSERT_EQ(outcome.output, expected[0].output);
    const auto got =
        allreduce_on({all(scenario, true), false}, scenario, mixed_input, 1, on_device.options());
    expect_same_bits(got, expected);
    EXPECT_EQ(on_device.messages(), on_host.messages());
}

TEST_P(DeviceVariableRate, GivesTheBitsOfTheHostCallAfterCall) {
    const Scenario scenario = scenario_of(GetParam());
    expect_same_bits(allreduce_on({all(scenario, true), true}, scenario, mixed_input, 3),
                     allreduce(scenario, mixed_input));
}

TEST_P(DeviceVariableRate, MeetsRanksWhoseDataAreOnTheHost) {
    const Scenario scenario = scenario_of(GetParam());
    std::vector<bool> some = all(scenario, true);
    for (std::size_t rank = 0; rank < some.size(); rank += 2) some[rank] = false;
    expect_same_bits(allreduce_on({some, true}, scenario, mixed_input, 2),
                     allreduce(scenario, mixed_input));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DeviceVariableRate,
    testing::Values(Case{"int8/abs=1e-2", "(0 1)", 100'000, "direct", 0},
                    Case{"int8/abs=1e-2", "(0 1 2)", 100'001, "ring", 0},
                    Case{"int8/abs=1e-2", "((0 1) (2 3 4))", 150'007, "direct", 16384},
                    Case{"int8/rel=0.1", "((0 1) (2 3 4))", 90'001, "ring", 16384},
                    Case{"int4/abs=0.1", "(0 1 2 3)", 50'003, "recursive", 0},
                    Case{"int4/rel=0.3", "((0 1) (2 3 4))", 60'000, "direct", 8192},
                    Case{"int16/abs=1e-4", "((0 (1 2)) 3 (4 5 6))", 40'000, "direct", 4096},
                    Case{"int16/rel=1e-3", "((0 1) (2 3 4))", 40'000, "ring", 0},
                    Case{"int8/abs=1e-12", "((0 1) (2 3 4))", 40'000, "direct", 4096},
                    Case{"int8/abs=1e-2", "(0 1 2)", 1, "direct", 0},
                    Case{"int4/abs=1e-2", "((0 1) 2)", 515, "direct", 0}));

TEST(DeviceVariableRate, RandomShapesGiveTheBitsOfTheHost) {
    const char* const codecs[] = {"int8/abs=1e-2", "int8/rel=0.05",  "int4/abs=0.1",
                                  "int4/rel=0.3",  "int16/abs=1e-5", "int16/rel=1e-3"};
    const char* const trees[] = {"(0 1)", "(0 1 2)", "((0 1) (2 3 4))", "((0 (1 2)) 3)"};
    const std::vector<Exchange> exchanges = split_exchanges();
    std::mt19937 random(11);
    const auto pick = [&](std::size_t count) { return random() % count; };
    for (int round = 0; round < 40; ++round) {
        Scenario shape =
            scenario(trees[pick(std::size(trees))], static_cast<std::int64_t>(1 + pick(20'000)),
                     codec_from_name(codecs[pick(std::size(codecs))]).value(),
                     exchanges[pick(exchanges.size())]);
        if (pick(2) == 0) shape.spec.chunk_elems = static_cast<std::int64_t>(512 * (1 + pick(20)));
        shape.spec.in_place = pick(2) == 0;
        shape.options.chunks_in_flight = 1 + static_cast<int>(pick(4));
        std::vector<bool> some = all(shape, true);
        for (std::size_t rank = 0; rank < some.size(); ++rank) some[rank] = pick(4) != 0;
        expect_same_bits(allreduce_on({some, pick(2) == 0}, shape, mixed_input),
                         allreduce(shape, mixed_input));
    }
}

TEST(DeviceVariableRate, SendsNoMoreThanItEncodesAndNothingByReference) {
    const Scenario scenario = scenario_of({"int8/abs=1e-2", "(0 1 2)", 300'000, "direct", 0});
    const auto sine = [](int, std::int64_t count) {
        Floats values(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 100) * 1e-2F;
        return values;
    };
    for (const DeviceOutcome& rank : allreduce_on({all(scenario, true), true}, scenario, sine)) {
        ASSERT_TRUE(rank.status.ok()) << rank.status.message();
        EXPECT_EQ(rank.stats.sent_by_reference, 0U);
        EXPECT_GT(rank.stats.bytes_sent, 0U);
        EXPECT_LT(rank.stats.bytes_sent, 2 * 300'000 * sizeof(float) * 2 / 3 / 3);
    }
}

/// What a call says (`abs=call`) reaches the kernels, and each call may say something else.
TEST(DeviceVariableRate, EachCallMaySayWhatItLoses) {
    const Scenario scenario = scenario_of({"int8/abs=call", "(0 1 2)", 30'000, "direct", 4096});
    LoopbackWorld host_world(3, {}), device_world(3, {});
    on_all_ranks(host_world, 3, [&](Channel& host) {
        const auto side = make_side(3, true);
        Scenario with_device = scenario;
        with_device.options.device = side;
        with_device.options.data_on_device = true;
        const auto executor = make_executor(scenario, host);
        const auto executor_dev = make_executor(with_device, device_world.channel(host.rank()));
        const Floats in = mixed_input(host.rank(), scenario.spec.count_elems);
        DeviceFloats in_dev(*side, in), out_dev(*side, in);
        Floats out(in.size());
        std::uint32_t call = 0;
        for (const double tolerance : {0.1, 1e-3, 0.0}) {
            Binding binding = binding_of(in, out, call++);
            binding.tolerance = tolerance;
            ASSERT_TRUE(executor->start(binding).ok());
            ASSERT_TRUE(finish(*executor).ok());
            binding.input = in_dev.data();
            binding.output = out_dev.data();
            ASSERT_TRUE(executor_dev->start(binding).ok());
            ASSERT_TRUE(finish(*executor_dev).ok());
            ASSERT_EQ(out_dev.content(), out) << tolerance;
        }
    });
}

TEST(DeviceVariableRate, KeepsResidualsOnTheDevice) {
    Scenario scenario = scenario_of({"int4/abs=0.05", "((0 1) 2)", 20'000, "direct", 0});
    scenario.spec.feedback = true;
    LoopbackWorld host_world(3, {}), device_world(3, {});
    on_all_ranks(host_world, 3, [&](Channel& host) {
        const auto side = make_side(3, true);
        Scenario with_device = scenario;
        with_device.options.device = side;
        with_device.options.data_on_device = true;
        const auto executor = make_executor(scenario, host);
        const auto executor_dev = make_executor(with_device, device_world.channel(host.rank()));
        const Floats in = mixed_input(host.rank(), scenario.spec.count_elems);
        Floats residual(static_cast<std::size_t>(executor->plan().residual_elems()), 0.0F);
        DeviceFloats in_dev(*side, in), residual_dev(*side, residual), out_dev(*side, in);
        Floats out(in.size());
        for (std::uint32_t call = 0; call < 3; ++call) {
            Binding binding = binding_of(in, out, call);
            binding.residual = residual.data();
            ASSERT_TRUE(executor->start(binding).ok());
            ASSERT_TRUE(finish(*executor).ok());
            binding.input = in_dev.data();
            binding.output = out_dev.data();
            binding.residual = residual_dev.data();
            ASSERT_TRUE(executor_dev->start(binding).ok());
            ASSERT_TRUE(finish(*executor_dev).ok());
            ASSERT_EQ(out_dev.content(), out);
            ASSERT_EQ(residual_dev.content(), residual);
        }
    });
}

/// The lengths are refused before anything is launched with them, if the host can see it. All ranks
/// end.
TEST(DeviceVariableRate, SpoiledLengthsAreRefusedOnTheWayUpAndDown) {
    const Scenario scenario =
        scenario_of({"int8/abs=1e-2", "((0 1) (2 3 4))", 20'000, "direct", 0});
    for (const SpoiledLength& spoiled : spoiled_lengths)
        for (const int number : {0, 1})
            for (const bool share : {true, false}) {
                SCOPED_TRACE(std::string(spoiled.what) + ", message " + std::to_string(number));
                const auto outcomes =
                    allreduce_on({all(scenario, true), share}, scenario, dense_input, 1,
                                 spoil(3, 2, number, spoiled.change));
                EXPECT_EQ(outcomes[2].status.code(), Code::corrupt) << outcomes[2].status.message();
                const std::string& message = outcomes[2].status.message();
                const bool only_kernels_see_it =
                    std::string(spoiled.what) == "two blocks whose sum is right";
                EXPECT_NE(message.find(only_kernels_see_it ? "decoded on the device" : "rank 3"),
                          std::string::npos)
                    << message;
                for (const DeviceOutcome& outcome : outcomes)
                    EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                                outcome.status.code() == Code::peer_failed)
                        << outcome.status.message();
            }
}

/// Whatever the lengths are, no block leads outside the memory of the device, which would end the
/// program (emulated_device/queue.cpp).
TEST(DeviceVariableRate, RandomLengthsNeverLeadOutsideTheMessage) {
    const Scenario shape = scenario_of({"int8/abs=1e-2", "((0 1) 2)", 6'000, "ring", 0});
    for (unsigned seed = 0; seed < 60; ++seed) {
        LoopbackOptions options;
        const auto random = std::make_shared<std::mt19937>(seed);
        options.tamper = [=](const LoopbackEnvelope&, std::span<std::byte> bytes) {
            auto& draw = *random;
            if (bytes.size() <= frame_header_bytes || draw() % 4 != 0) return bytes.size();
            const std::size_t left = bytes.size() - frame_header_bytes;
            for (unsigned i = 0; i < 1 + draw() % 3; ++i)
                bytes[frame_header_bytes + draw() % std::min<std::size_t>(64, left)] =
                    static_cast<std::byte>(draw());
            return draw() % 3 == 0 ? frame_header_bytes + draw() % left : bytes.size();
        };
        for (const DeviceOutcome& outcome :
             allreduce_on({all(shape, true), false}, shape, mixed_input, 1, options))
            EXPECT_TRUE(outcome.status.ok() || outcome.status.code() == Code::corrupt ||
                        outcome.status.code() == Code::peer_failed)
                << outcome.status.message();
    }
}

}  // namespace
}  // namespace gradcoll
