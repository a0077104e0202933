// Executors whose data are on a device: the same bits as on the host, whatever the mixture of ranks
// and however late the device's streams run.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "collectives/build/planner.hpp"
#include "runtime/device/device_ranks.hpp"
#include "runtime/spoil.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

struct Case {
    const char* tree;
    std::int64_t count;
    CodecId codec;
    Exchange exchange;
    std::int64_t chunk;  ///< elements; 0: one chunk
    bool in_place;
};

Scenario scenario_of(const Case& c) {
    Scenario made = scenario(c.tree, c.count, c.codec, c.exchange);
    made.spec.chunk_elems = c.chunk;
    made.spec.in_place = c.in_place;
    return made;
}

class DeviceExecutor : public testing::TestWithParam<Case> {};

TEST_P(DeviceExecutor, GivesTheBitsOfTheHostThroughMirrors) {
    const Scenario scenario = scenario_of(GetParam());
    expect_same_bits(allreduce_on({all(scenario, true), false}, scenario, dense_input, 2),
                     allreduce(scenario, dense_input));
}

TEST_P(DeviceExecutor, GivesTheBitsOfTheHostByReference) {
    const Scenario scenario = scenario_of(GetParam());
    expect_same_bits(allreduce_on({all(scenario, true), true}, scenario, dense_input, 2),
                     allreduce(scenario, dense_input));
}

TEST_P(DeviceExecutor, MayMeetRanksWhoseDataAreOnTheHost) {
    const Scenario scenario = scenario_of(GetParam());
    std::vector<bool> mixed = all(scenario, true);
    for (std::size_t rank = 0; rank < mixed.size(); rank += 2) mixed[rank] = false;
    const std::vector<Outcome> expected = allreduce(scenario, dense_input);
    expect_same_bits(allreduce_on({mixed, true}, scenario, dense_input, 2), expected);
    expect_same_bits(allreduce_on({mixed, false, false}, scenario, dense_input), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DeviceExecutor,
    testing::Values(Case{"(0 1)", 100000, CodecId::nm_2_4, Exchange::direct, 0, false},
                    Case{"(0 1)", 100001, CodecId::exact, Exchange::direct, 0, true},
                    Case{"((0 1) (2 3 4))", 150000, CodecId::nm_2_4, Exchange::direct, 16384,
                         false},
                    Case{"((0 1) (2 3 4))", 150007, CodecId::exact, called("ring"), 16384, true},
                    Case{"((0 1) (2 3 4))", 90112, CodecId::bf16, called("ring"), 0, true},
                    Case{"(0 1 2 3)", 120000, CodecId::exact, called("recursive"), 0, false},
                    Case{"((0 1) (2 3 4))", 90001, *codec_from_name("int8/seed=7"),
                         Exchange::direct, 16384, false},
                    Case{"(0 1 2)", 3000, CodecId::exact, Exchange::single, 0, false},
                    Case{"(0 1 2)", 1, CodecId::exact, Exchange::direct, 0, false},
                    Case{"(0 1 2)", 0, CodecId::exact, Exchange::direct, 0, false}));

TEST(DeviceExecutor, KeepsResidualsOnTheDevice) {
    Scenario scenario =
        scenario_of({"(0 1 2)", 60000, CodecId::nm_2_4, Exchange::direct, 0, false});
    scenario.spec.feedback = true;
    const int ranks = scenario.rank_count();
    LoopbackWorld host_world(ranks, {}), device_world(ranks, {});
    on_all_ranks(host_world, ranks, [&](Channel& host) {
        Channel& far = device_world.channel(host.rank());
        const auto side = make_side(ranks, true);
        Scenario with_device = scenario;
        with_device.options.device = side;
        with_device.options.data_on_device = true;
        const auto executor = make_executor(scenario, host);
        const auto executor_dev = make_executor(with_device, far);
        const Floats in = dense_input(host.rank(), scenario.spec.count_elems);
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

const Case long_messages{"((0 1) (2 3 4))", 150000, CodecId::nm_2_4, Exchange::direct, 0, false};

TEST(DeviceExecutor, LongMessagesToPeersThatReadTheDeviceAreReferences) {
    const Scenario scenario = scenario_of(long_messages);
    for (const DeviceOutcome& rank :
         allreduce_on({all(scenario, true), true}, scenario, dense_input))
        EXPECT_GT(rank.stats.sent_by_reference, 0U);
    for (const DeviceOutcome& rank :
         allreduce_on({all(scenario, true), false}, scenario, dense_input))
        EXPECT_EQ(rank.stats.sent_by_reference, 0U);
}

/// This runs only where the device's memory is readable by the CPU, as it is by such an MPI
/// library.
TEST(DeviceExecutor, WhatTheLaneTakesLeavesTheDeviceAsItLies) {
    const char* readable = std::getenv("GC_TEST_DEVICE_READABLE");
    if (readable == nullptr || std::string(readable) != "on") GTEST_SKIP() << "not readable";
    for (const Case& c :
         {long_messages, Case{"(0 1 2)", 70001, CodecId::exact, called("ring"), 0, true}}) {
        const Scenario scenario = scenario_of(c);
        DeviceRanks ranks{all(scenario, true), false};
        ranks.mpi_takes_it = true;
        const auto outcomes = allreduce_on(ranks, scenario, dense_input, 2);
        expect_same_bits(outcomes, allreduce(scenario, dense_input));
        for (const DeviceOutcome& rank : outcomes)
            EXPECT_EQ(rank.stats.sent_from_device, rank.stats.messages_sent);
        ranks.on_device[1] = false;
        expect_same_bits(allreduce_on(ranks, scenario, dense_input),
                         allreduce(scenario, dense_input));
    }
}

/// Does a call in place of a rank whose data are on the device, or on the host.
Outcome run_in_place(Executor& executor, DeviceSide& side, const Floats& values,
                     std::uint32_t call) {
    Floats on_host = values;
    DeviceFloats on_device(side, values);
    Binding binding = binding_of(on_host, on_host, call);
    const bool is_there = executor.data_device() != nullptr;
    if (is_there) binding.input = binding.output = on_device.data();
    Outcome outcome;
    outcome.status = executor.start(binding);
    if (outcome.status.ok()) outcome.status = finish(executor);
    outcome.output = is_there ? on_device.content() : on_host;
    return outcome;
}

/// TwoOutcomes are those of two operations of ranks whose data are on devices, in the first of
/// which rank 3, whose data are on the host, cannot take part.
struct TwoOutcomes {
    std::vector<Outcome> first = std::vector<Outcome>(5), second = std::vector<Outcome>(5);
};

TwoOutcomes with_refusal_of_rank_3(const Scenario& scenario, bool share, const Status& why) {
    LoopbackWorld world(5);
    TwoOutcomes outcomes;
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto side = make_side(5, share);
        Scenario mine = scenario;
        mine.options.data_on_device = at != 3;
        if (share || at != 3) mine.options.device = side;
        const auto executor = make_executor(mine, channel);
        const Floats values = dense_input(channel.rank(), scenario.spec.count_elems);
        if (at == 3) {
            Floats room(values.size());
            Binding binding = binding_of(room, room, 0);
            binding.refusal = &why;
            outcomes.first[at].status = executor->start(binding);
            if (outcomes.first[at].status.ok()) outcomes.first[at].status = finish(*executor);
        } else {
            outcomes.first[at] = run_in_place(*executor, *side, values, 0);
        }
        outcomes.second[at] = run_in_place(*executor, *side, values, 1);
    });
    return outcomes;
}

TEST(DeviceExecutor, WhoRefusesIsNamedOnEveryRankAndTheNextOperationIsRight) {
    const Status why(Code::out_of_memory, "no room");
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4})
        for (const bool share : {true, false}) {
            const Scenario scenario =
                scenario_of({"((0 1) (2 3 4))", 150000, codec, Exchange::direct, 16384, true});
            const TwoOutcomes got = with_refusal_of_rank_3(scenario, share, why);
            const std::vector<Outcome> expected = allreduce(scenario, dense_input);
            for (std::size_t rank = 0; rank < 5; ++rank) {
                const Status& status = got.first[rank].status;
                EXPECT_EQ(status.code(), rank == 3 ? Code::out_of_memory : Code::peer_failed)
                    << rank << status.message();
                ASSERT_TRUE(got.second[rank].status.ok()) << got.second[rank].status.message();
                EXPECT_EQ(got.second[rank].output, expected[rank].output) << rank;
            }
        }
}

/// Returns what each rank says when the first message from rank 3 to rank 2 was spoiled.
std::vector<DeviceOutcome> spoiled(const DeviceRanks& ranks, Spoil spoil) {
    Scenario scenario = scenario_of(long_messages);
    return allreduce_on(ranks, scenario, dense_input, 1, spoil_once(3, 2, spoil));
}

std::vector<DeviceRanks> placements() {
    const std::vector<bool> on_device(5, true), on_host(5, false);
    std::vector<bool> only_sender = on_host;
    only_sender[3] = true;
    return {{on_device, false}, {on_device, true}, {only_sender, true}};
}

TEST(DeviceFailure, ABrokenHeaderIsNamedAndEndsEveryRank) {
    for (const DeviceRanks& ranks : placements()) {
        const auto outcomes = spoiled(ranks, break_magic);
        EXPECT_EQ(outcomes[2].status.code(), Code::corrupt) << outcomes[2].status.message();
        EXPECT_NE(outcomes[2].status.message().find("rank 3"), std::string::npos);
        for (const std::size_t rank : {0, 1, 3, 4})
            EXPECT_EQ(outcomes[rank].status.code(), Code::peer_failed) << rank;
    }
}

/// What it is filled with is no legal mask, and no reference.
TEST(DeviceFailure, ASpoiledPayloadOrReferenceIsCorruptAndEndsEveryRank) {
    for (const DeviceRanks& ranks : placements()) {
        const auto outcomes = spoiled(ranks, fill_payload);
        EXPECT_EQ(outcomes[2].status.code(), Code::corrupt) << outcomes[2].status.message();
        for (const std::size_t rank : {0, 1, 3, 4})
            EXPECT_EQ(outcomes[rank].status.code(), Code::peer_failed) << rank;
    }
}

/// A message that is none says that it is a reference, or a reference that it is none.
TEST(DeviceFailure, AMessageWithTheWrongReferenceFlagIsCorruptAndEndsEveryRank) {
    const Spoil turn_flag = [](std::span<std::byte> message) {
        set_reference_flag(message.data(),
                           !has_reference_flag(message.data(), message.size()).value());
        return message.size();
    };
    for (const DeviceRanks& ranks : placements()) {
        const auto outcomes = spoiled(ranks, turn_flag);
        EXPECT_EQ(outcomes[2].status.code(), Code::corrupt) << outcomes[2].status.message();
        for (const std::size_t rank : {0, 1, 3, 4})
            EXPECT_EQ(outcomes[rank].status.code(), Code::peer_failed) << rank;
    }
}

TEST(DeviceFailure, ACutMessageIsCorrupt) {
    for (const DeviceRanks& ranks : placements())
        EXPECT_EQ(spoiled(ranks, cut)[2].status.code(), Code::corrupt);
}

/// Nothing is packed there, either.
TEST(DeviceExecutor, ACodecWithoutKernelsIsNamedAndEndsEveryRank) {
    for (const char* name : {"bound/abs=1e-3", "2:4+zstd"}) {
        const CodecId codec = *codec_from_name(name);
        const Scenario scenario =
            scenario_of({"((0 1) (2 3))", 150000, codec, Exchange::direct, 16384, false});
        for (const bool share : {true, false})
            for (const std::vector<bool>& on_device :
                 {all(scenario, true), std::vector<bool>{false, true, false, false}}) {
                const auto outcomes = allreduce_on({on_device, share}, scenario, dense_input);
                for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
                    SCOPED_TRACE(outcomes[rank].status.message());
                    if (!on_device[rank]) {
                        EXPECT_EQ(outcomes[rank].status.code(), Code::peer_failed);
                        continue;
                    }
                    EXPECT_EQ(outcomes[rank].status.code(), Code::unsupported);
                    EXPECT_EQ(outcomes[rank].status.message().find(fmt::format(
                                  "codec {} of fp32: emulated device 0 has no kernels for it; "
                                  "allowed with data there: exact, 1:4, 2:4,",
                                  name_of(codec))),
                              0U);
                }
            }
    }
}

TEST(DeviceExecutor, DataOnADeviceNeedADevice) {
    Scenario scenario = scenario_of({"(0 1)", 10, CodecId::exact, Exchange::direct, 0, false});
    scenario.options.data_on_device = true;
    LoopbackWorld world(2, {});
    const auto plan = make_plan(scenario.make_tree(), scenario.spec, 0);
    const auto made =
        Executor::make(std::make_shared<const Plan>(*plan), world.channel(0), scenario.options);
    EXPECT_EQ(made.status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace gradcoll
