// gc_reproducible=anywhere: the same bits on every tree, exchange, chunk size and order of ranks,
// in one host's memory and over messages, and those of the sum that one rank makes of all vectors.
#include <algorithm>
#include <limits>
#include <memory>

#include "call/anywhere/contributions.hpp"

namespace gradcoll::test {
namespace {

template <class T>
void expect_sums(const PlainComm& comm, const std::string& what) {
    for (const Data data : {Data::plain, Data::far_apart, Data::cancelling, Data::special})
        for (const std::size_t count : lengths) {
            const std::vector<T> right = sum_of_all<T>(data, comm.size(), count);
            std::vector<T> mine = vector_of<T>(data, comm.rank(), count), out(count);
            ASSERT_EQ(GC_Allreduce(mine.data(), out.data(), static_cast<int>(count),
                                   datatype_of<T>(), MPI_SUM, comm),
                      MPI_SUCCESS);
            ASSERT_TRUE(same_bits(out, right)) << what << " count " << count;
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(count),
                                   datatype_of<T>(), MPI_SUM, comm),
                      MPI_SUCCESS);
            ASSERT_TRUE(same_bits(mine, right)) << what << " in place, count " << count;
        }
}

TEST(Anywhere, SumsInTheMemoryOfOneHost) {
    OwnComm comm;
    comm.set("gc_reproducible", "anywhere");
    expect_sums<float>(comm, "one host");
    expect_sums<double>(comm, "one host");
}

TEST(Anywhere, SumsOnEveryTreeAndExchange) {
    const int size = size_of(MPI_COMM_WORLD);
    int number = 0;
    for (const std::string& tree : trees_for(size)) {
        OwnComm comm(tree);
        comm.set("gc_reproducible", "anywhere");
        const char* const exchanges[] = {"auto", "direct", "ring"};
        const char* const chunks[] = {"auto", "4K", "64K"};
        comm.set("gc_exchange", exchanges[number % 3]);
        comm.set("gc_chunk_bytes", chunks[++number % 3]);
        expect_sums<float>(comm, tree);
        expect_sums<double>(comm, tree);
    }
}

/// Long vectors go in pieces over the tree, and between hosts that have several ranks.
TEST(Anywhere, LongSumsAreMadeInPieces) {
    constexpr std::size_t count = 1'900'001;
    std::vector<std::string> trees = trees_for(size_of(MPI_COMM_WORLD));
    trees.emplace_back();
    for (const std::string& tree : trees) {
        const auto own =
            tree.empty() ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
        const OwnComm& comm = *own;
        comm.set("gc_reproducible", "anywhere");
        for (const Data data : {Data::far_apart, Data::special}) {
            auto mine = vector_of<float>(data, comm.rank(), count);
            const auto right = sum_of_all<float>(data, comm.size(), count);
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(count), MPI_FLOAT,
                                   MPI_SUM, comm),
                      MPI_SUCCESS);
            ASSERT_TRUE(same_bits(mine, right)) << tree;
        }
    }
}

TEST(Anywhere, RanksMayHaveAnyOrder) {
    const int rank = rank_of(MPI_COMM_WORLD);
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    ASSERT_EQ(GC_Comm_set_option(turned, "gc_reproducible", "anywhere"), MPI_SUCCESS);
    for (const std::size_t count : lengths) {
        const auto mine = vector_of<float>(Data::far_apart, rank, count);
        std::vector<float> out(count);
        EXPECT_EQ(GC_Allreduce(mine.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                               turned),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_bits(out, sum_of_all<float>(Data::far_apart, size_of(turned), count)));
    }
    MPI_Comm_free(&turned);
}

TEST(Anywhere, ComplexNumbersAreTwoElements) {
    for (const char* const tree : {"", "flat"}) {
        auto comm = *tree == 0 ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
        comm->set("gc_reproducible", "anywhere");
        const auto mine = vector_of<float>(Data::far_apart, comm->rank(), 2000);
        std::vector<float> out(2000);
        EXPECT_EQ(GC_Allreduce(mine.data(), out.data(), 1000, MPI_C_FLOAT_COMPLEX, MPI_SUM, *comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_bits(out, sum_of_all<float>(Data::far_apart, comm->size(), 2000)));
    }
}

TEST(Anywhere, ReduceScatterGivesBlocksOfTheSum) {
    for (const char* const tree : {"", "flat"}) {
        auto comm = *tree == 0 ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
        comm->set("gc_reproducible", "anywhere");
        for (const std::size_t block : {1UL, 100UL, 5000UL}) {
            const std::size_t whole = block * static_cast<std::size_t>(comm->size());
            const auto mine = vector_of<double>(Data::far_apart, comm->rank(), whole);
            const auto sum = sum_of_all<double>(Data::far_apart, comm->size(), whole);
            std::vector<double> out(block);
            EXPECT_EQ(GC_Reduce_scatter_block(mine.data(), out.data(), static_cast<int>(block),
                                              MPI_DOUBLE, MPI_SUM, *comm),
                      MPI_SUCCESS);
            const auto first = sum.begin() + static_cast<std::ptrdiff_t>(block) * comm->rank();
            EXPECT_TRUE(same_bits(
                out, std::vector<double>(first, first + static_cast<std::ptrdiff_t>(block))));
        }
    }
}

/// A NaN is the result wherever it comes from, and -0 is below +0.
TEST(Anywhere, MinimaAndMaximaDoNotDependOnTheOrder) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const char* const tree : {"", "flat"})
        for (int where = 0; where < size_of(MPI_COMM_WORLD); ++where) {
            auto comm = *tree == 0 ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
            comm->set("gc_reproducible", "anywhere");
            const bool is_there = comm->rank() == where;
            const float mine[] = {is_there ? nan : 1.0F, is_there ? -0.0F : 0.0F,
                                  static_cast<float>(comm->rank()) - 1.5F};
            float least[3], most[3];
            ASSERT_EQ(GC_Allreduce(mine, least, 3, MPI_FLOAT, MPI_MIN, *comm), MPI_SUCCESS);
            ASSERT_EQ(GC_Allreduce(mine, most, 3, MPI_FLOAT, MPI_MAX, *comm), MPI_SUCCESS);
            EXPECT_EQ(std::bit_cast<std::uint32_t>(least[0]), 0x7fc00000U);
            EXPECT_EQ(std::bit_cast<std::uint32_t>(most[0]), 0x7fc00000U);
            EXPECT_TRUE(std::signbit(least[1]));
            EXPECT_EQ(std::signbit(most[1]), comm->size() == 1);
            EXPECT_EQ(least[2], -1.5F);
            EXPECT_EQ(most[2], static_cast<float>(comm->size()) - 2.5F);
        }
}

TEST(Anywhere, IntegersAreAddedAsEver) {
    OwnComm comm;
    comm.set("gc_reproducible", "anywhere");
    const int mine = comm.rank() + 1;
    int sum = 0;
    EXPECT_EQ(GC_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(sum, comm.size() * (comm.size() + 1) / 2);
}

void first_of_two(void*, void*, int*, MPI_Datatype*) {}

TEST(Anywhere, WhatCannotBeKeptIsRefused) {
    OwnComm comm;
    comm.set("gc_reproducible", "anywhere");
    float in = 1, out = 0;
    const int product = GC_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm);
    ASSERT_NE(product, MPI_SUCCESS);
    EXPECT_NE(error_text(product).find("op is prod of fp32"), std::string::npos)
        << error_text(product);
    MPI_Op own = MPI_OP_NULL;
    MPI_Op_create(first_of_two, 1, &own);
    EXPECT_NE(GC_Allreduce(&in, &out, 1, MPI_FLOAT, own, comm), MPI_SUCCESS);
    MPI_Op_free(&own);
    MPI_Request request = MPI_REQUEST_NULL;
    GC_Request persistent = GC_REQUEST_NULL;
    EXPECT_NE(GC_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm, &request), MPI_SUCCESS);
    EXPECT_NE(
        GC_Allreduce_init(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm, MPI_INFO_NULL, &persistent),
        MPI_SUCCESS);
    EXPECT_NE(GC_Comm_set_option(comm, "gc_codec", "int8"), MPI_SUCCESS);
}

/// A rank with a wrong buffer gets its error, and the others theirs.
TEST(Anywhere, ARankThatCannotTakePartKeepsNobodyWaiting) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "needs two ranks";
    for (const char* const tree : {"", "flat"}) {
        auto comm = *tree == 0 ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
        comm->set("gc_reproducible", "anywhere");
        for (const int count : {2500, 1'900'001}) {
            std::vector<float> both(2 * static_cast<std::size_t>(count), 1.0F);
            float* const out = both.data() + (comm->rank() == 0 ? 10 : count);
            EXPECT_NE(GC_Allreduce(both.data(), out, count, MPI_FLOAT, MPI_SUM, *comm),
                      MPI_SUCCESS);
        }
        expect_sums<float>(*comm, "afterwards");
    }
}

}  // namespace
}  // namespace gradcoll::test
