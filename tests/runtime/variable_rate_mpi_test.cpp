// A codec of variable rate between processes: whole messages and messages in pieces, and no
// allocation when it is warm.
#include <numeric>

#include "runtime/mpi_ranks.hpp"
#include "runtime/variable_rate_codec.hpp"
#include "support/counting_new.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

class VariableRateMpi : public MpiRanks {
  protected:
    Scenario shape_of(std::int64_t count) const {
        use_variable_rate(true);
        Scenario shape = scenario(lopsided_tree(), count, test_codec, called("recursive"));
        shape.spec.chunk_elems = 1 << 15;
        return shape;
    }
};

TEST_F(VariableRateMpi, GivesTheSumInMessagesThatAreCut) {
    for (const std::int64_t count : {1'000, 400'000}) {
        Scenario shape = shape_of(count);
        shape.spec.chunk_elems = 0;  // so that the pieces are many
        const auto ranks = static_cast<std::size_t>(channel_->rank_count());
        shape.options.cut_peers.resize(ranks);
        std::iota(shape.options.cut_peers.begin(), shape.options.cut_peers.end(), 0);
        const auto executor = make_executor(shape, *channel_);
        const Floats sum = sum_of_all(sparse_input, channel_->rank_count(), count);
        const Floats whole = sum_of_all(whole_input, channel_->rank_count(), count);
        for (std::uint32_t call = 0; call < 6; ++call) {
            const bool sparse = call % 2 == 0;  // short messages after long ones
            const Outcome outcome = run_once(*executor, sparse ? sparse_input : whole_input, call);
            ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
            EXPECT_EQ(outcome.output, sparse ? sum : whole);
        }
    }
}

TEST_F(VariableRateMpi, WarmRunsAllocateNothing) {
    Scenario shape = shape_of(300'000);
    const auto executor = make_executor(shape, *channel_);
    const Floats in = sparse_input(channel_->rank(), 300'000);
    Floats out(in.size());
    ASSERT_TRUE(executor->run(binding_of(in, out, 0)).ok());
    const long before = test::allocation_count();
    for (std::uint32_t sequence = 1; sequence < 4; ++sequence)
        ASSERT_TRUE(executor->run(binding_of(in, out, sequence)).ok());
    EXPECT_EQ(test::allocation_count() - before, 0);
    // Four calls, and one value of 16 was sent in each.
    EXPECT_LE(executor->stats().bytes_sent, bytes_sent(executor->plan()));
}

}  // namespace
}  // namespace gradcoll
