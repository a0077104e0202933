// Every kind of communicator, op and datatype that MPI_Allreduce takes: ours or passed on, the
// result is MPI's.
#include <complex>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

TEST(Comms, SubCommunicatorsGetThePrunedTree) {
    const OwnComm world("flat");
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(world, world.rank() % 2, -world.rank(), &half);
    GC_Comm_set_option(half, "gc_tree_min_bytes", "0");
    std::vector<int> values(4000, rank_of(half) + 1);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 4000, MPI_INT, MPI_SUM, half), MPI_SUCCESS);
    const int n = size_of(half);
    EXPECT_EQ(values, std::vector<int>(4000, n * (n + 1) / 2));
    MPI_Comm_free(&half);
}

TEST(Comms, ADuplicateStartsFresh) {
    const OwnComm first("flat");
    ASSERT_EQ(GC_Comm_set_codec(first, "2:4"), MPI_SUCCESS);
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(first, &second);
    char codec[16];
    ASSERT_EQ(GC_Comm_get_option(second, "gc_codec", codec, sizeof codec, nullptr), MPI_SUCCESS);
    EXPECT_STREQ(codec, "exact");
    MPI_Comm_free(&second);
}

TEST(Comms, IntercommunicatorsPass) {
    const int n = size_of(MPI_COMM_WORLD);
    const int rank = rank_of(MPI_COMM_WORLD);
    if (n < 2) GTEST_SKIP() << "needs two groups";
    MPI_Comm group = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    const int others = rank % 2 == 0 ? n / 2 : (n + 1) / 2;

    std::vector<int> in(100, 1), out(100);
    ASSERT_EQ(GC_Allreduce(in.data(), out.data(), 100, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    EXPECT_EQ(out, std::vector<int>(100, others));

    std::vector<std::uint16_t> half_in(10, to_bf16(1.0F)), half_out(10);
    ASSERT_EQ(GC_Allreduce(half_in.data(), half_out.data(), 10, GC_Type_bfloat16(), MPI_SUM, inter),
              MPI_SUCCESS);
    EXPECT_EQ(from_bf16(half_out[9]), static_cast<float>(others));

    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
}

void second_wins(void* in, void* inout, int* count, MPI_Datatype*) {
    const int* a = static_cast<const int*>(in);
    int* b = static_cast<int*>(inout);
    for (int i = 0; i < *count; ++i) b[i] = b[i] != 0 ? b[i] : a[i];
}

void plus(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

TEST(Comms, UserOpsPassATreeInRankOrder) {
    const OwnComm comm("flat");
    MPI_Op ordered, commuting;
    MPI_Op_create(second_wins, /*commute=*/0, &ordered);
    MPI_Op_create(plus, /*commute=*/1, &commuting);
    std::vector<int> values(30000, comm.rank() + 1), expected(30000);
    MPI_Allreduce(values.data(), expected.data(), 30000, MPI_INT, ordered, comm);
    std::vector<int> got(30000);
    ASSERT_EQ(GC_Allreduce(values.data(), got.data(), 30000, MPI_INT, ordered, comm), MPI_SUCCESS);
    EXPECT_EQ(got, expected);
    ASSERT_EQ(GC_Allreduce(values.data(), got.data(), 30000, MPI_INT, commuting, comm),
              MPI_SUCCESS);
    EXPECT_EQ(got, std::vector<int>(30000, comm.size() * (comm.size() + 1) / 2));
    if (comm.size() > 1) {
        EXPECT_EQ(comm.stats().calls_passed, 2U);
    }
    MPI_Op_free(&ordered);
    MPI_Op_free(&commuting);
}

TEST(Comms, ComplexAndLogicalTypesAreServedAndPairsPassATree) {
    const OwnComm comm("flat");
    std::vector<std::complex<double>> z(500, {1.0, 2.0});
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, z.data(), 500, MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(z[499], std::complex<double>(1.0 * comm.size(), 2.0 * comm.size()));
    struct Pair {
        int value, where;
    } pair = {comm.rank(), comm.rank()}, best = {};
    ASSERT_EQ(GC_Allreduce(&pair, &best, 1, MPI_2INT, MPI_MAXLOC, comm), MPI_SUCCESS);
    EXPECT_EQ(best.where, comm.size() - 1);
    bool yes = true;
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_C_BOOL, MPI_LAND, comm), MPI_SUCCESS);
    EXPECT_TRUE(yes);
    if (comm.size() == 1) return;
    EXPECT_EQ(comm.stats().calls_tree, 2U);
    EXPECT_EQ(comm.stats().calls_passed, 1U);
}

TEST(Comms, DerivedTypesPassATreeWithUserOps) {
    const OwnComm comm("flat");
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op op;
    MPI_Op_create(
        [](void* in, void* inout, int* count, MPI_Datatype*) {
            for (int i = 0; i < 2 * *count; ++i)
                static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
        },
        1, &op);
    std::vector<int> values(200, 3);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 100, two, op, comm), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<int>(200, 3 * comm.size()));
    MPI_Op_free(&op);
    MPI_Type_free(&two);
}

TEST(Blocks, ReduceScatterBlockEqualsMpiOnEveryTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const int block : {0, 1, 7, 1003}) {
            const std::vector<std::int64_t> in =
                integers<std::int64_t>(comm.rank(), static_cast<std::size_t>(block * comm.size()));
            std::vector<std::int64_t> expected(static_cast<std::size_t>(block)),
                got(expected.size()), in_place = in;
            MPI_Reduce_scatter_block(in.data(), expected.data(), block, MPI_INT64_T, MPI_SUM, comm);
            ASSERT_EQ(
                GC_Reduce_scatter_block(in.data(), got.data(), block, MPI_INT64_T, MPI_SUM, comm),
                MPI_SUCCESS);
            EXPECT_EQ(got, expected);
            ASSERT_EQ(GC_Reduce_scatter_block(MPI_IN_PLACE, in_place.data(), block, MPI_INT64_T,
                                              MPI_SUM, comm),
                      MPI_SUCCESS);
            in_place.resize(expected.size());
            EXPECT_EQ(in_place, expected);
        }
        EXPECT_EQ(comm.stats().calls_passed, 0U);
    }
}

TEST(Blocks, AllgatherEqualsMpiOnEveryTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const int block : {0, 1, 7, 1003}) {
            const std::vector<float> mine =
                floats<float>(comm.rank(), static_cast<std::size_t>(block));
            std::vector<float> expected(static_cast<std::size_t>(block * comm.size())),
                got(expected.size());
            MPI_Allgather(mine.data(), block, MPI_FLOAT, expected.data(), block, MPI_FLOAT, comm);
            ASSERT_EQ(
                GC_Allgather(mine.data(), block, MPI_FLOAT, got.data(), block, MPI_FLOAT, comm),
                MPI_SUCCESS);
            EXPECT_EQ(got, expected);
            std::vector<float> in_place(expected.size());
            std::copy(mine.begin(), mine.end(), in_place.begin() + block * comm.rank());
            ASSERT_EQ(GC_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place.data(), block,
                                   MPI_FLOAT, comm),
                      MPI_SUCCESS);
            EXPECT_EQ(in_place, expected);
        }
        const GC_Stats stats = comm.stats();
        const bool alone = comm.size() == 1;  // those calls pass to the MPI library
        EXPECT_EQ(stats.calls_passed, alone ? 8U : 0U);
        EXPECT_EQ(stats.calls_tree, alone ? 0U : 8U);
        EXPECT_EQ(stats.messages_sent > 0, !alone) << "the tree was not taken";
    }
}

/// Every rank may describe the same data differently: rank 0 receives into a strided type, the
/// others as plain floats.
TEST(Blocks, AllgatherOfDerivedTypesKeepsTheirGaps) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    constexpr int pairs = 300;
    MPI_Datatype strided, spaced;
    MPI_Type_vector(2, 1, 2, MPI_FLOAT, &strided);
    MPI_Type_create_resized(strided, 0, 4 * sizeof(float), &spaced);
    MPI_Type_commit(&spaced);
    const std::vector<float> mine = floats<float>(comm.rank(), 2 * pairs);
    std::vector<float> expected(static_cast<std::size_t>(2 * pairs * comm.size()));
    MPI_Allgather(mine.data(), 2 * pairs, MPI_FLOAT, expected.data(), 2 * pairs, MPI_FLOAT, comm);

    std::vector<float> got(2 * expected.size(), -7.0F);
    const bool derived = comm.rank() == 0;
    ASSERT_EQ(GC_Allgather(mine.data(), 2 * pairs, MPI_FLOAT, got.data(),
                           derived ? pairs : 2 * pairs, derived ? spaced : MPI_FLOAT, comm),
              MPI_SUCCESS);

    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(got[derived ? 2 * i : i], expected[i]) << i;
    if (derived) {
        EXPECT_EQ(got[1], -7.0F);
    }
    MPI_Type_free(&spaced);
    MPI_Type_free(&strided);
}

TEST(Blocks, LossyAllgatherGivesAllRanksTheSameApproximation) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    ASSERT_EQ(GC_Comm_set_codec(comm, "2:4"), MPI_SUCCESS);
    const std::vector<float> mine = floats<float>(comm.rank(), 4096);
    std::vector<float> got(4096 * static_cast<std::size_t>(comm.size()));
    ASSERT_EQ(GC_Allgather(mine.data(), 4096, MPI_FLOAT, got.data(), 4096, MPI_FLOAT, comm),
              MPI_SUCCESS);
    EXPECT_TRUE(same_on_all_ranks(got, comm));
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
}

TEST(Inspect, CommunicatorsThatAreNotAttachedHaveEmptyStatistics) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    GC_Stats stats{};
    ASSERT_EQ(GC_Comm_get_stats(comm, &stats), MPI_SUCCESS);
    EXPECT_EQ(stats.calls_tree + stats.calls_passed, 0U);
    EXPECT_NE(std::string(stats.last_pass_reason).find("not attached"), std::string::npos);
    EXPECT_EQ(GC_Comm_reset_stats(comm), MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

TEST(Inspect, TreesComeInEveryFormAndEqualOnAllRanks) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    for (const GC_Tree_format format :
         {GC_TREE_TEXT, GC_TREE_JSON, GC_TREE_DOT, GC_TREE_EXPRESSION, GC_TREE_ORIGIN}) {
        std::size_t length = 0;
        ASSERT_EQ(GC_Comm_get_tree(comm, format, nullptr, &length), MPI_SUCCESS);
        std::vector<char> text(length);
        ASSERT_EQ(GC_Comm_get_tree(comm, format, text.data(), &length), MPI_SUCCESS);
        EXPECT_EQ(std::strlen(text.data()) + 1, length);
        EXPECT_TRUE(same_on_all_ranks(text, comm));
    }
}

}  // namespace
}  // namespace gradcoll::test
