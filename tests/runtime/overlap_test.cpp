// Many operations at once on one channel, with the shortest tags that MPI allows.
#include <algorithm>

#include "runtime/operation_numbers.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

constexpr int ranks = 3;
constexpr int shortest_tags = 32767;
constexpr std::int64_t count = 700;

Scenario shape() {
    Scenario made = scenario("(0 (1 2))", count);
    made.spec.chunk_elems = 256;
    return made;
}

/// Overlapping is one of several operations of a rank. All values of operation n differ from those
/// of the others.
struct Overlapping {
    Overlapping(Channel& channel, std::uint32_t given_number)
        : number(given_number),
          executor(make_executor(shape(), channel)),
          in(count, static_cast<float>(number * 8 + static_cast<unsigned>(channel.rank()))),
          out(count) {}

    Status start() {
        Binding binding = binding_of(in, out, number);
        binding.numbers = numbers;
        return executor->start(binding);
    }
    bool has_ended() {
        const Result<Progress> progress = executor->advance();
        EXPECT_TRUE(progress.ok()) << progress.status().message();
        return !progress.ok() || *progress == Progress::complete;
    }
    void expect_sum() const {
        const auto sum = static_cast<float>(number * 8 * ranks + 0 + 1 + 2);
        EXPECT_EQ(out, Floats(count, sum)) << "operation " << number;
    }

    std::uint32_t number;
    OperationNumbers* numbers = nullptr;  ///< null: `number` is the operation's
    std::unique_ptr<Executor> executor;
    Floats in, out;
};

using Operations = std::vector<std::unique_ptr<Overlapping>>;

/// Shuffles into another order on each rank.
void shuffle(Operations& operations, int rank) {
    std::shuffle(operations.begin(), operations.end(), std::mt19937(static_cast<unsigned>(rank)));
}

/// Ranks begin forty in different orders, and end the last ones before they look at the first.
TEST(Overlap, FortyOperationsEndOutOfOrderOnTheShortestTags) {
    LoopbackWorld world(ranks, {.delay_probability = 0.3, .seed = 4, .tag_limit = shortest_tags});
    on_all_ranks(world, ranks, [](Channel& channel) {
        Operations all;
        for (std::uint32_t number = 100; number < 140; ++number)
            all.push_back(std::make_unique<Overlapping>(channel, number));
        shuffle(all, channel.rank());
        for (const auto& one : all) ASSERT_TRUE(one->start().ok());
        std::sort(all.begin(), all.end(),
                  [](const auto& a, const auto& b) { return a->number > b->number; });
        std::vector<std::uint32_t> ended;
        for (const std::size_t end : {20U, 40U})
            while (ended.size() < end) {
                for (std::size_t i = end - 20; i < end; ++i)
                    if (std::find(ended.begin(), ended.end(), all[i]->number) == ended.end() &&
                        all[i]->has_ended())
                        ended.push_back(all[i]->number);
                std::this_thread::yield();
            }
        EXPECT_TRUE(std::all_of(ended.begin(), ended.begin() + 20,
                                [](std::uint32_t number) { return number >= 120; }));
        for (const auto& one : all) one->expect_sum();
    });
}

/// More operations than the tags tell apart are all started at once: each begins when the one
/// before with its tags has ended here.
TEST(Overlap, OperationsBeyondTheTagsWaitTheirTurnAndNeverMix) {
    constexpr std::uint32_t total = 300;
    LoopbackWorld world(ranks, {.delay_probability = 0.3, .seed = 8, .tag_limit = shortest_tags});
    on_all_ranks(world, ranks, [](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        Operations operations;
        for (std::uint32_t i = 0; i < total; ++i) {
            operations.push_back(std::make_unique<Overlapping>(channel, i));
            operations.back()->numbers = &numbers;
        }
        for (const auto& one : operations) {
            ASSERT_TRUE(one->start().ok());
            ASSERT_EQ(one->executor->sequence(), one->number);
            EXPECT_EQ(one->executor->stats().messages_sent > 0, one->number < 64) << one->number;
        }
        std::mt19937 random(static_cast<unsigned>(channel.rank()));
        for (Operations left = std::move(operations); !left.empty();) {
            const std::size_t i = random() % left.size();
            if (!left[i]->has_ended()) continue;
            left[i]->expect_sum();
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        }
    });
}

TEST(Overlap, AStartThatFailsHasTakenItsNumberAndEndedIt) {
    LoopbackWorld world(ranks, {.tag_limit = shortest_tags});
    on_all_ranks(world, ranks, [](Channel& channel) {
        OperationNumbers numbers(*TagLayout::make(channel.tag_limit(), 1));
        for (std::uint32_t i = 0; i < 200; ++i) {
            Overlapping one(channel, i);
            one.numbers = &numbers;
            if (i % 3 == 0) {
                Binding nothing;
                nothing.numbers = &numbers;
                EXPECT_EQ(one.executor->start(nothing).code(), Code::invalid_buffer);
                continue;
            }
            ASSERT_TRUE(one.start().ok());
            ASSERT_EQ(one.executor->sequence(), i);
            while (!one.has_ended()) std::this_thread::yield();
            one.expect_sum();
        }
    });
}

/// The window is asked to be larger than the tags can number.
TEST(Overlap, ChunksInFlightAreAsManyAsTheTagsTellApart) {
    Scenario wide = scenario("((0 1) (2 3 4))", 30'000, CodecId::nm_2_4);
    wide.spec.chunk_elems = 512;
    wide.options.chunks_in_flight = 16;
    for (const bool paced : {false, true}) {
        wide.options.paced = paced;
        expect_all_equal(
            allreduce(wide, sparse_input,
                      {.delay_probability = 0.3, .seed = 2, .tag_limit = shortest_tags}),
            sum_of_all(sparse_input, 5, 30'000));
    }
}

}  // namespace
}  // namespace gradcoll
