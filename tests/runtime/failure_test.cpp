// Broken messages: every rank ends, those concerned say why, and the next operation works.
#include "runtime/spoil.hpp"
#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

/// Two operations of every rank of "((0 1) (2 3 4))"; something spoils a message of the first one.
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

/// The ranks disagree about the count, which no plan allows: the message is too long for its
/// receive.
TEST(Failure, TransportErrorEndsTheOperationAtOnce) {
    LoopbackWorld world(2);
    const auto small = make_executor(scenario("(0 1)", 100), world.channel(0));
    const auto large = make_executor(scenario("(0 1)", 200), world.channel(1));
    const Floats in(200, 1.0F);
    Floats small_out(100), large_out(200);
    ASSERT_TRUE(small->start(binding_of(in, small_out)).ok());
    ASSERT_TRUE(large->start(binding_of(in, large_out)).ok());
    const Status status = finish(*small);
    EXPECT_EQ(status.code(), Code::transport) << status.message();
    EXPECT_TRUE(says(status, "rank 1")) << status.message();
    EXPECT_EQ(*small->advance(), Progress::complete);
}

}  // namespace
}  // namespace gradcoll
