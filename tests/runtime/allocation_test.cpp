// After the first run of a shape nothing is allocated. Counts every operator new of this program.
#include <array>
#include <string_view>

#include "runtime/mpi_ranks.hpp"
#include "support/counting_new.hpp"

namespace gradcoll {
namespace {

class Allocation : public MpiRanks {};

TEST_F(Allocation, WarmRunsAllocateNothing) {
    for (const char* name :
         {"exact", "2:4", "int8+zstd", "bound/abs=0.5+zstd", "2:4+int8+lz4", "exact checked"}) {
        const bool checked = std::string_view(name).ends_with(" checked");
        const CodecId codec = checked ? CodecId::exact : codec_from_name(name).value();
        Scenario shape = scenario(lopsided_tree(), 300'000, codec);
        shape.spec.chunk_elems = 1 << 15;
        shape.options.checked = checked;
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

/// What another scheduler does with the steps of an executor costs nothing, either.
TEST_F(Allocation, StepsAreTakenAndGivenBackWithoutAny) {
    Scenario shape = scenario(lopsided_tree(), 300'000, CodecId::nm_2_4);
    shape.spec.chunk_elems = 1 << 15;
    const auto executor = make_executor(shape, *channel_);
    const Floats in = sparse_input(channel_->rank(), 300'000);
    Floats out(in.size());
    const auto run = [&](std::uint32_t sequence) {
        GRADCOLL_TRY(executor->start(binding_of(in, out, sequence)));
        std::array<LocalStep, 4> steps;
        for (;;) {
            const Result<Progress> progress = executor->advance_messages();
            if (!progress.ok() || *progress == Progress::complete) return progress.status();
            for (std::size_t left = executor->take_local(steps); left > 0; --left)
                GRADCOLL_TRY(executor->finish_local(steps[left - 1], run_step(steps[left - 1])));
        }
    };
    ASSERT_TRUE(run(0).ok());
    const long before = test::allocation_count();
    const Status status = run(1);
    EXPECT_EQ(test::allocation_count() - before, 0);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(out, sum_of_all(sparse_input, channel_->rank_count(), 300'000));
}

}  // namespace
}  // namespace gradcoll
