// The order of arrival never shows in the result, and operations that overlap in time do not mix.
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

Scenario chunked(CodecId codec) {
    Scenario shape = scenario("((0 (1 2)) 3 (4 5))", 9'001, codec);
    shape.spec.chunk_elems = 2048;
    return shape;
}

TEST(Order, RandomDeliveryGivesTheSameBits) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::bf16}) {
        const Floats expected = allreduce(chunked(codec), dense_input)[0].output;
        for (const std::uint64_t seed : {1, 2, 3, 4}) {
            SCOPED_TRACE(seed);
            const std::size_t eager_bytes = seed % 2 ? 4096 : 0;
            expect_all_equal(
                allreduce(chunked(codec), dense_input,
                          {.eager_bytes = eager_bytes, .delay_probability = 0.6, .seed = seed}),
                expected);
        }
    }
}

TEST(Order, TheSameExecutorGivesTheSameBitsAgain) {
    LoopbackWorld world(6);
    on_all_ranks(world, 6, [&](Channel& channel) {
        const auto executor = make_executor(chunked(CodecId::nm_2_4), channel);
        const Outcome first = run_once(*executor, dense_input, 0);
        const Outcome second = run_once(*executor, dense_input, 1);
        EXPECT_TRUE(first.status.ok() && second.status.ok());
        EXPECT_EQ(first.output, second.output);
    });
}

/// Half of the ranks start the second operation first.
TEST(Order, OverlappingOperationsOnOneChannelDoNotMix) {
    constexpr std::int64_t count = 9'001;
    LoopbackWorld world(6, {.delay_probability = 0.5, .seed = 9});
    on_all_ranks(world, 6, [&](Channel& channel) {
        const auto first = make_executor(chunked(CodecId::exact), channel);
        const auto second = make_executor(chunked(CodecId::exact), channel);
        const Floats sparse = sparse_input(channel.rank(), count);
        const Floats whole = whole_input(channel.rank(), count);
        Floats sparse_sum(count), whole_sum(count);
        const auto start_first = [&] { return first->start(binding_of(sparse, sparse_sum, 7)); };
        const auto start_second = [&] { return second->start(binding_of(whole, whole_sum, 8)); };
        const bool swapped = channel.rank() % 2 == 1;
        ASSERT_TRUE((swapped ? start_second() : start_first()).ok());
        ASSERT_TRUE((swapped ? start_first() : start_second()).ok());
        for (int turn = 0; turn < 20; ++turn) {
            ASSERT_TRUE(second->advance().ok());
            ASSERT_TRUE(first->advance().ok());
        }
        Progress one = Progress::idle, two = Progress::idle;
        while (one != Progress::complete || two != Progress::complete) {
            one = *first->advance();
            two = *second->advance();
            std::this_thread::yield();
        }
        EXPECT_EQ(sparse_sum, sum_of_all(sparse_input, 6, count));
        EXPECT_EQ(whole_sum, sum_of_all(whole_input, 6, count));
    });
}

}  // namespace
}  // namespace gradcoll
