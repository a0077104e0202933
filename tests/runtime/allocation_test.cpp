// After the first run of a shape nothing is allocated. Counts every operator new of this program.
#include "runtime/mpi_ranks.hpp"
#include "support/counting_new.hpp"

namespace gradcoll {
namespace {

class Allocation : public MpiRanks {};

TEST_F(Allocation, WarmRunsAllocateNothing) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4}) {
        Scenario shape = scenario(lopsided_tree(), 300'000, codec);
        shape.spec.chunk_elems = 1 << 15;
        const auto executor = make_executor(shape, *channel_);
        const Floats in = sparse_input(channel_->rank(), 300'000);
        Floats out(in.size());
        ASSERT_TRUE(executor->run(binding_of(in, out, 0)).ok());
        const long before = test::allocation_count();
        for (std::uint32_t sequence = 1; sequence < 4; ++sequence)
            ASSERT_TRUE(executor->run(binding_of(in, out, sequence)).ok());
        EXPECT_EQ(test::allocation_count() - before, 0);
    }
}

}  // namespace
}  // namespace gradcoll
