// The executor over MPI messages: the same checks as with threads, on every rank of the job.

#include "runtime/mpi_ranks.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

class MpiExecutor : public MpiRanks {
  protected:
    void expect_sum(const Scenario& shape) {
        const auto executor = make_executor(shape, *channel_);
        const Floats expected =
            sum_of_all(sparse_input, channel_->rank_count(), shape.spec.count_elems);
        for (int round = 0; round < 3; ++round) {
            const Outcome outcome = run_once(*executor, sparse_input, sequence_++);
            EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
            EXPECT_EQ(outcome.output, expected);
        }
    }
    std::uint32_t sequence_ = 0;
};

TEST_F(MpiExecutor, ExactSumEqualsTheReferenceForAnyCount) {
    for (const std::int64_t count : {0, 1, 1000, 100'003})
        expect_sum(scenario(lopsided_tree(), count));
}

TEST_F(MpiExecutor, EveryExchangeGivesTheSum) {
    for (const Exchange exchange : {called("ring"), called("recursive"), Exchange::single})
        for (const std::int64_t count : {3, 100'003})
            expect_sum(scenario(lopsided_tree(), count, CodecId::exact, exchange));
    expect_sum(scenario(lopsided_tree(), 100'003, CodecId::nm_2_4, called("recursive")));
}

TEST_F(MpiExecutor, ChunksGiveTheSumForExactAndLossy) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::nm_1_16, CodecId::bf16}) {
        Scenario shape = scenario(lopsided_tree(), 1'000'003, codec);
        shape.spec.chunk_elems = 1 << 17;
        expect_sum(shape);
    }
}

TEST_F(MpiExecutor, AllRanksHoldTheSameBits) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4, CodecId::bf16}) {
        const auto executor = make_executor(scenario(lopsided_tree(), 50'021, codec), *channel_);
        const Outcome outcome = run_once(*executor, dense_input, sequence_++);
        ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
        Floats of_root = outcome.output;
        MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
        EXPECT_EQ(outcome.output, of_root);
    }
}

/// There are whole messages, and messages in pieces of which nobody knows how many there will be.
TEST_F(MpiExecutor, PackedMessagesGiveTheBitsOfPlainOnes) {
    for (const bool cut : {false, true})
        for (const char* packing : {"", "+zstd", "+lz4"}) {
            Scenario shape = scenario(lopsided_tree(), 400'003,
                                      codec_from_name(std::string("int8") + packing).value());
            if (cut) shape.options.cut_peers = {0, 1, 2, 3, 4};
            const auto executor = make_executor(shape, *channel_);
            const auto plain =
                make_executor(scenario(shape.tree, 400'003, CodecId::int8), *channel_);
            for (const MakeInput input : {sparse_input, dense_input, sparse_input}) {
                const Outcome outcome = run_once(*executor, input, sequence_++);
                ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
                EXPECT_EQ(outcome.output, run_once(*plain, input, sequence_++).output);
            }
            const bool is_shorter = executor->stats().packed_away_bytes > 0;
            EXPECT_EQ(is_shorter, *packing != 0 && channel_->rank_count() > 1);
        }
}

}  // namespace
}  // namespace gradcoll
