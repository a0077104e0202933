// gc_reproducible=anywhere in engines: sums have the bits of blocking ones, whatever the strategy,
// the coordinator and the order in which gradients are handed in.
#include <string>

#include "call/anywhere/contributions.hpp"
#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

using Keys = std::vector<std::pair<const char*, const char*>>;

constexpr Data all_data[] = {Data::plain, Data::far_apart, Data::cancelling, Data::special};

/// Hands in a gradient for each kind of data and length, on odd ranks in the other order.
void expect_sums(const OwnEngine& engine, const OwnComm& comm) {
    struct One {
        std::string name;
        std::vector<float> in, out, right;
        GC_Handle handle = GC_HANDLE_NULL;
    };
    std::vector<One> all;
    for (const Data data : all_data)
        for (const std::size_t count : lengths)
            all.push_back({std::to_string(static_cast<int>(data)) + "/" + std::to_string(count),
                           vector_of<float>(data, comm.rank(), count), std::vector<float>(count),
                           sum_of_all<float>(data, comm.size(), count)});
    for (std::size_t i = 0; i < all.size(); ++i) {
        One& one = all[comm.rank() % 2 == 0 ? i : all.size() - 1 - i];
        ASSERT_EQ(GC_Submit(engine, one.name.c_str(), one.in.data(), one.out.data(),
                            static_cast<int>(one.in.size()), MPI_FLOAT, MPI_SUM, 0, &one.handle),
                  MPI_SUCCESS);
    }
    for (One& one : all) {
        ASSERT_EQ(GC_Handle_wait(&one.handle), MPI_SUCCESS);
        ASSERT_TRUE(same_bits(one.out, one.right)) << one.name;
    }
}

void expect_sums_with(const char* tree, const char* engine_text) {
    const OwnComm comm;
    const OwnEngine engine(
        comm, {{"gc_reproducible", "anywhere"}, {"gc_topology", tree}, {"gc_engine", engine_text}});
    for (int step = 0; step < 2; ++step) expect_sums(engine, comm);
}

TEST(AnywhereEngine, SumsInTheMemoryOfOneHost) {
    expect_sums_with("auto", "tree");
}

TEST(AnywhereEngine, SumsOverMessagesWithEveryStrategy) {
    for (const char* const text : {"tree", "ring,threads=0", "ps", "tree,threads=2"})
        expect_sums_with("flat", text);
}

TEST(AnywhereEngine, WithoutACoordinatorAllRanksHandInTheSame) {
    expect_sums_with("flat", "tree,coordinator=off");
}

TEST(AnywhereEngine, WhatCannotBeKeptIsRefused) {
    const OwnComm comm;
    const OwnEngine engine(comm, {{"gc_reproducible", "anywhere"}});
    float in = 1, out = 0;
    GC_Handle handle = GC_HANDLE_NULL;
    EXPECT_NE(GC_Submit(engine, "product", &in, &out, 1, MPI_FLOAT, MPI_PROD, 0, &handle),
              MPI_SUCCESS);
    EXPECT_EQ(GC_Submit(engine, "most", &in, &out, 1, MPI_FLOAT, MPI_MAX, 0, &handle), MPI_SUCCESS);
    EXPECT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    EXPECT_EQ(out, 1.0F);
}

}  // namespace
}  // namespace gradcoll::test
