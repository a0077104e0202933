// Checked operations: the same bits as without, whatever is flipped is found and named, all ranks
// end with an error, and the next operation works.
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "collectives/exchange/exchange.hpp"
#include "runtime/operation_numbers.hpp"
#include "runtime/spoil.hpp"
#include "runtime/tags.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

constexpr int rank_count = 5;
constexpr std::int64_t elems = 3000;
constexpr std::int64_t chunk_elems = 512;

Scenario checked_shape(CodecId codec = CodecId::exact, Exchange exchange = Exchange::direct) {
    Scenario shape = scenario("((0 1) (2 3 4))", elems, codec, exchange);
    shape.spec.chunk_elems = chunk_elems;
    shape.options.checked = true;
    return shape;
}

bool says(const Status& status, const std::string& text) {
    return status.message().find(text) != std::string::npos;
}

/// Returns how many operations are flipped; more if the environment says so.
int flips_wanted(int usual) {
    const char* const wanted = std::getenv("GC_TEST_FLIPS");
    return wanted != nullptr ? std::atoi(wanted) : usual;
}

/// TaggedFields are what a tag says of a message: whose seal it is, and of which.
struct TaggedFields {
    explicit TaggedFields(int tag) {
        const TagLayout tags = *TagLayout::make(0x7fffffff, 1);
        const int stages = static_cast<int>(tags.stage_count());
        stage = tag % stages;
        is_seal = stage >= tags.seal_shift();
        if (is_seal) stage -= tags.seal_shift();
        is_outcome = stage == tags.outcome_stage();
        chunk = tag / stages % tags.chunk_count();
        operation = tag / stages / tags.chunk_count();
    }
    int operation = 0, chunk = 0, stage = 0;
    bool is_seal = false, is_outcome = false;
};

/// A Flip says which message of an operation was flipped.
struct Flip {
    LoopbackEnvelope envelope;
    std::size_t size_bytes = 0;
};

/// Flipper makes one bit of one message wrong, in each operation whose number is odd.
class Flipper {
  public:
    explicit Flipper(unsigned seed) : random_(seed) {}

    LoopbackOptions options() {
        LoopbackOptions made;
        made.tamper = [this](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
            return look_at(envelope, bytes);
        };
        return made;
    }
    /// Returns what was flipped; once the world has come to rest.
    const std::map<int, Flip>& flips() const { return flips_; }

  private:
    /// It is called with the world locked.
    std::size_t look_at(const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const int operation = TaggedFields(envelope.tag).operation;
        const bool is_new = !seen_.contains(operation);
        if (is_new) seen_[operation] = {0, 1 + random_() % most_messages_};
        auto& [count, chosen] = seen_[operation];
        ++count;
        most_messages_ = std::max(most_messages_, count);
        if (operation % 2 == 0 || bytes.empty() || count != chosen) return bytes.size();
        const std::size_t bit = random_() % (8 * bytes.size());
        bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        flips_[operation] = {envelope, bytes.size()};
        return bytes.size();
    }

    struct Messages {
        std::size_t count = 0, chosen = 0;
    };
    std::mt19937 random_;
    std::size_t most_messages_ = 1;
    std::map<int, Messages> seen_;
    std::map<int, Flip> flips_;
};

/// Returns what the rank that a flipped message came to has to say of it.
std::string place_of(const Scenario& shape, const Flip& flip) {
    const TaggedFields tag(flip.envelope.tag);
    const std::string from = "message from rank " + std::to_string(flip.envelope.source) + " at ";
    const Plan plan = make_plan(shape.make_tree(), shape.spec, flip.envelope.destination).value();
    for (const Step& step : plan.schedule_of(tag.chunk).steps)
        if (step.kind == StepKind::recv && step.peer == flip.envelope.source &&
            static_cast<int>(step.stage) == tag.stage)
            return from + "level " + std::to_string(step.level) + ": elements " +
                   std::to_string(tag.chunk * chunk_elems + step.range.begin) + " to " +
                   std::to_string(tag.chunk * chunk_elems + step.range.end - 1) + " came damaged";
    return "no such message";
}

/// Tally counts what became of flips.
struct Tally {
    int flips = 0, found = 0, placed = 0, repaired = 0, clean = 0, false_alarms = 0;
};

/// Runs operations, of which every second one is flipped, and counts.
void run_flipped(const Scenario& shape, int operations, unsigned seed, Tally& tally) {
    Flipper flipper(seed);
    std::vector<std::vector<Outcome>> outcomes(static_cast<std::size_t>(operations),
                                               std::vector<Outcome>(rank_count));
    {
        LoopbackWorld world(rank_count, flipper.options());
        on_all_ranks(world, rank_count, [&](Channel& channel) {
            const auto executor = make_executor(shape, channel);
            for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(operations); ++i)
                outcomes[i][static_cast<std::size_t>(channel.rank())] =
                    run_once(*executor, sparse_input, i);
        });
    }
    const Floats& sum = outcomes[0][0].output;  // nothing is flipped there
    for (int i = 0; i < operations; ++i) {
        const std::vector<Outcome>& ranks = outcomes[static_cast<std::size_t>(i)];
        const auto failed = std::count_if(ranks.begin(), ranks.end(), [&](const Outcome& rank) {
            return !rank.status.ok() || rank.output != sum;
        });
        const auto flip = flipper.flips().find(i);
        if (flip == flipper.flips().end()) {
            ++tally.clean;
            tally.false_alarms += failed > 0 ? 1 : 0;
            continue;
        }
        if (TaggedFields(flip->second.envelope.tag).is_outcome) {
            ++tally.repaired;
            tally.false_alarms += failed > 0 ? 1 : 0;
            continue;
        }
        ++tally.flips;
        const auto errors = std::count_if(ranks.begin(), ranks.end(),
                                          [](const Outcome& rank) { return !rank.status.ok(); });
        tally.found += errors == rank_count ? 1 : 0;
        const auto at = static_cast<std::size_t>(flip->second.envelope.destination);
        const std::string place = place_of(shape, flip->second);
        const bool is_placed = says(ranks[at].status, place);
        tally.placed += is_placed ? 1 : 0;
        EXPECT_TRUE(is_placed) << place << ", but: " << ranks[at].status.message();
    }
}

TEST(Checked, EveryFlipIsFoundAndNamedAndEndsEveryRank) {
    constexpr int at_a_time = 1000;  // tags tell more operations apart
    const int wanted = flips_wanted(1000);
    Tally tally;
    unsigned seed = 1;
    while (tally.flips < wanted && !testing::Test::HasFailure())
        for (const char* codec : {"exact", "2:4", "int8", "exact"})
            for (const char* exchange : {"direct", "ring"}) {
                SCOPED_TRACE(testing::Message() << codec << ", " << exchange << ", " << seed);
                run_flipped(
                    checked_shape(codec_from_name(codec).value(), exchange_named(exchange).value()),
                    std::min(at_a_time, 2 * wanted / 8 + 2), seed++, tally);
            }
    EXPECT_EQ(tally.found, tally.flips);
    EXPECT_EQ(tally.placed, tally.flips);
    EXPECT_EQ(tally.false_alarms, 0);
    std::printf(
        "%d flips: %d found on all ranks, %d with their place; %d repaired; %d operations "
        "without: %d false alarms\n",
        tally.flips, tally.found, tally.placed, tally.repaired, tally.clean, tally.false_alarms);
}

TEST(Checked, ResultsHaveTheBitsOfUncheckedOnes) {
    for (const char* codec : {"exact", "2:4", "int8", "bf16", "bound/abs=0.5", "int8+zstd"})
        for (const char* exchange : {"direct", "ring", "recursive"})
            for (const std::int64_t count : {1, 5, 300, 20'000}) {
                SCOPED_TRACE(testing::Message() << codec << ", " << exchange << ", " << count);
                Scenario shape = scenario("((0 1) (2 3 4))", count, codec_from_name(codec).value(),
                                          exchange_named(exchange).value());
                shape.spec.chunk_elems = 4096;
                const auto plain = allreduce(shape, dense_input);
                shape.options.checked = true;
                const auto checked =
                    allreduce(shape, dense_input, {.delay_probability = 0.3, .seed = 11});
                ASSERT_TRUE(plain[0].status.ok()) << plain[0].status.message();
                expect_all_equal(checked, plain[0].output);
            }
}

/// The last message of a rank is damaged, when it has told others all that the plan has them hear.
TEST(Checked, WhatIsFoundInTheLastMessageEndsEveryRank) {
    Scenario shape = scenario("(0 1 2 3 4)", 1000);
    shape.options.checked = true;
    const Plan plan = make_plan(shape.make_tree(), shape.spec, 4).value();
    std::uint32_t last = 0;
    for (const Step& step : plan.body.steps)
        if (step.kind == StepKind::recv) last = std::max<std::uint32_t>(last, step.stage);
    LoopbackOptions options;
    options.tamper = [last](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
        const TaggedFields tag(envelope.tag);
        const bool is_it = tag.operation == 0 && tag.stage == static_cast<int>(last) &&
                           !tag.is_seal && envelope.source == 2 && envelope.destination == 4;
        if (is_it) bytes[17] ^= std::byte{4};
        return bytes.size();
    };
    LoopbackWorld world(rank_count, options);
    std::array<Outcome, rank_count> first, second;
    on_all_ranks(world, rank_count, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto executor = make_executor(shape, channel);
        first[at] = run_once(*executor, whole_input, 0);
        second[at] = run_once(*executor, whole_input, 1);
    });
    EXPECT_EQ(first[4].status.code(), Code::corrupt);
    for (const std::size_t rank : {0, 1, 2, 3}) {
        EXPECT_EQ(first[rank].status.code(), Code::peer_failed);
        EXPECT_TRUE(says(first[rank].status, "rank 4 cannot go on"))
            << first[rank].status.message();
    }
    expect_all_equal({second.begin(), second.end()}, sum_of_all(whole_input, rank_count, 1000));
}

/// A signature that goes ahead of a message is flipped. If nobody can tell any more what it was,
/// the message behind it may be left: then the communicator can only be freed.
TEST(Checked, FlippedNoticesEndEveryRank) {
    for (const std::size_t byte : {0, 12})
        for (const bool of_seal : {false, true}) {
            SCOPED_TRACE(testing::Message() << byte << ", " << of_seal);
            const bool is_left = byte == 0 && !of_seal;
            Scenario shape = checked_shape();
            if (is_left) shape.options.patience = std::chrono::milliseconds(300);
            LoopbackOptions options;
            const auto done = std::make_shared<std::atomic<bool>>(false);
            options.tamper = [=](const LoopbackEnvelope& envelope, std::span<std::byte> bytes) {
                const bool is_it = envelope.source == 3 && envelope.destination == 2 &&
                                   TaggedFields(envelope.tag).is_seal == of_seal;
                if (is_it && !done->exchange(true)) bytes[byte % bytes.size()] ^= std::byte{1};
                return bytes.size();
            };
            LoopbackWorld world(rank_count, options);
            std::array<std::vector<Outcome>, 3> runs;
            for (auto& run : runs) run.resize(rank_count);
            on_all_ranks(world, rank_count, [&](Channel& channel) {
                const auto at = static_cast<std::size_t>(channel.rank());
                OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
                const auto executor = make_executor(shape, channel);
                const Floats in = sparse_input(channel.rank(), elems);
                for (auto& run : runs) {
                    run[at].output.resize(in.size());
                    Binding binding = binding_of(in, run[at].output);
                    binding.numbers = &numbers;
                    binding.signature = 7;
                    run[at].status = executor->start(binding);
                    if (run[at].status.ok()) run[at].status = finish(*executor);
                }
            });
            for (const Outcome& outcome : runs[0]) EXPECT_FALSE(outcome.status.ok());
            EXPECT_EQ(runs[0][2].status.code(), Code::corrupt);
            if (!is_left) expect_all_equal(runs[2], sum_of_all(sparse_input, rank_count, elems));
            EXPECT_EQ(says(runs[2][2].status, "it can only be freed"), is_left);
            for (const Outcome& outcome : runs[2]) EXPECT_EQ(outcome.status.ok(), !is_left);
        }
}

/// A Doubter finds the result wrong on one rank.
struct Doubter final : ResultCheck {
    explicit Doubter(bool finds_it_wrong) : doubts(finds_it_wrong) {}
    Status check() const override {
        return doubts ? Status(Code::corrupt, "not what was added") : Status();
    }
    bool doubts;
};

TEST(Checked, AResultThatOneRankDoubtsEndsEveryRank) {
    LoopbackWorld world(rank_count);
    std::array<std::array<Status, rank_count>, 2> outcomes;
    on_all_ranks(world, rank_count, [&](Channel& channel) {
        const auto executor = make_executor(checked_shape(), channel);
        const Floats in = sparse_input(channel.rank(), elems);
        Floats out(in.size());
        for (std::uint32_t i = 0; i < outcomes.size(); ++i) {
            const Doubter doubter(i == 0 && channel.rank() == 1);
            Binding binding = binding_of(in, out, i);
            binding.check = &doubter;
            Status& outcome = outcomes[i][static_cast<std::size_t>(channel.rank())];
            outcome = executor->start(binding);
            if (outcome.ok()) outcome = finish(*executor);
        }
    });
    for (int rank = 0; rank < rank_count; ++rank) {
        const Status& first = outcomes[0][static_cast<std::size_t>(rank)];
        EXPECT_TRUE(says(first, rank == 1 ? "not what was added" : "rank 1 cannot go on"))
            << rank << ": " << first.message();
        EXPECT_TRUE(outcomes[1][static_cast<std::size_t>(rank)].ok());
    }
}

/// One rank's memory changes between the moment that a message is started and the one that it is
/// taken: the checksum is that of the first.
TEST(Checked, InputThatChangesOnItsWayIsFound) {
    LoopbackWorld world(2);
    const Scenario shape = [] {
        Scenario made = scenario("(0 1)", 1000);
        made.options.checked = true;
        return made;
    }();
    Floats in0(1000, 1.0F), in1(1000, 2.0F), out0(1000), out1(1000);
    const auto first = make_executor(shape, world.channel(0));
    const auto second = make_executor(shape, world.channel(1));
    ASSERT_TRUE(first->start(binding_of(in0, out0)).ok());
    for (float& value : in0) value = 3.0F;
    ASSERT_TRUE(second->start(binding_of(in1, out1)).ok());
    std::array<Result<Progress>, 2> at{Progress::idle, Progress::idle};
    for (int turns = 0; turns < 10'000; ++turns) {
        if (at[0].ok() && *at[0] != Progress::complete) at[0] = first->advance();
        if (at[1].ok() && *at[1] != Progress::complete) at[1] = second->advance();
    }
    ASSERT_FALSE(at[1].ok());
    EXPECT_TRUE(says(at[1].status(), "message from rank 0")) << at[1].status().message();
    EXPECT_FALSE(at[0].ok());
}

}  // namespace
}  // namespace gradcoll
