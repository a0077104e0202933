// GC_REPRODUCIBLE=anywhere under an unchanged program: every reduction of floats is served from the
// first call on, whatever its length, or refused; none passes.
#include "api/interposed/support.hpp"
#include "reduce/grid.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll::test {
namespace {

std::vector<float> vector_of(int rank, int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            static_cast<float>(std::ldexp(value_at(rank, i), -static_cast<int>(mix(i + 7) % 40)));
    return values;
}

std::vector<float> sum_of_all(int ranks, int count) {
    std::vector<std::vector<float>> inputs;
    std::vector<const void*> sources;
    for (int rank = 0; rank < ranks; ++rank) inputs.push_back(vector_of(rank, count));
    for (const auto& input : inputs) sources.push_back(input.data());
    std::vector<float> sum(inputs.front().size());
    reduce_many(grid_reducer(ElementType::f32), sources, sum.data(), sum.size(), false);
    return sum;
}

constexpr int counts[] = {1, 300, long_count};

TEST(InterposedAnywhere, SumsAreServedFromTheFirstCallOn) {
    for (const int count : counts) {
        const PlainComm comm;
        const auto mine = vector_of(comm.rank(), count);
        std::vector<float> out(mine.size());
        const Answer answer =
            connected().allreduce(mine.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm);
        ASSERT_TRUE(answer.served);
        EXPECT_EQ(answer.code, MPI_SUCCESS);
        EXPECT_EQ(out, sum_of_all(comm.size(), count));
    }
}

TEST(InterposedAnywhere, OneRankRoundsAsManyDo) {
    const auto mine = vector_of(3, 1000);
    std::vector<float> out(mine.size()), zeros(mine.size());
    const Answer answer =
        connected().allreduce(mine.data(), out.data(), 1000, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
    ASSERT_TRUE(answer.served);
    const std::vector<const void*> sources = {mine.data(), zeros.data()};
    std::vector<float> right(mine.size());
    reduce_many(grid_reducer(ElementType::f32), sources, right.data(), right.size(), false);
    EXPECT_EQ(out, right);
}

TEST(InterposedAnywhere, AReductionToOneRankHasTheSameBits) {
    const PlainComm comm;
    for (const int count : counts)
        for (int root = 0; root < comm.size(); ++root) {
            const auto mine = vector_of(comm.rank(), count);
            std::vector<float> out(mine.size(), -1.0F);
            const Answer answer =
                connected().reduce(mine.data(), comm.rank() == root ? out.data() : nullptr, count,
                                   MPI_FLOAT, MPI_SUM, root, comm);
            ASSERT_TRUE(answer.served);
            EXPECT_EQ(answer.code, MPI_SUCCESS);
            if (comm.rank() == root) {
                EXPECT_EQ(out, sum_of_all(comm.size(), count));
            }
        }
}

TEST(InterposedAnywhere, BlocksHaveTheBitsOfTheWholeSum) {
    const PlainComm comm;
    constexpr int block = 300;
    const auto mine = vector_of(comm.rank(), block * comm.size());
    std::vector<float> out(block);
    const Answer answer =
        connected().reduce_scatter_block(mine.data(), out.data(), block, MPI_FLOAT, MPI_SUM, comm);
    ASSERT_TRUE(answer.served);
    EXPECT_EQ(answer.code, MPI_SUCCESS);
    const auto sum = sum_of_all(comm.size(), block * comm.size());
    const auto first = sum.begin() + block * comm.rank();
    EXPECT_EQ(out, std::vector<float>(first, first + block));
}

/// Before the first blocking call a communicator of several ranks is not attached: to attach it
/// would wait for other ranks.
TEST(InterposedAnywhere, NonblockingSumsAreServedAfterABlockingCall) {
    const PlainComm comm;
    const auto mine = vector_of(comm.rank(), long_count);
    std::vector<float> out(mine.size());
    MPI_Request request = MPI_REQUEST_NULL;
    const auto start = [&] {
        return connected().iallreduce(mine.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, comm,
                                      &request);
    };
    if (comm.size() > 1) {
        const Answer first = start();
        EXPECT_TRUE(first.served);
        EXPECT_NE(first.code, MPI_SUCCESS);
    }
    float in = 1, sum = 0;
    ASSERT_TRUE(connected().allreduce(&in, &sum, 1, MPI_FLOAT, MPI_SUM, comm).served);
    const Answer then = start();
    ASSERT_TRUE(then.served);
    ASSERT_EQ(then.code, MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(out, sum_of_all(comm.size(), long_count));
}

TEST(InterposedAnywhere, WhatCannotBeKeptIsAnErrorOnAllRanks) {
    const PlainComm comm;
    float in = 1, out = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const Answer product = connected().allreduce(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm);
    EXPECT_TRUE(product.served);
    EXPECT_NE(product.code, MPI_SUCCESS);
    const Answer started =
        connected().iallreduce(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm, &request);
    EXPECT_TRUE(started.served);
    EXPECT_NE(started.code, MPI_SUCCESS);
    const Answer reduced = connected().reduce(&in, &out, 1, MPI_FLOAT, MPI_PROD, 0, comm);
    EXPECT_TRUE(reduced.served);
    EXPECT_NE(reduced.code, MPI_SUCCESS);
    const Answer pairs = connected().allreduce(&in, &out, 1, MPI_LONG_DOUBLE, MPI_SUM, comm);
    EXPECT_TRUE(pairs.served);
    EXPECT_NE(pairs.code, MPI_SUCCESS);
}

TEST(InterposedAnywhere, IntegersMayGoAnyWay) {
    const PlainComm comm;
    int in = comm.rank() + 1, out = 0;
    const Answer answer = connected().allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    if (!answer.served) PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(out, comm.size() * (comm.size() + 1) / 2);
}

}  // namespace
}  // namespace gradcoll::test
