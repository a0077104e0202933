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

}  // namespace
}  // namespace gradcoll
