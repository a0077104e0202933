// GC_Accumulate: contributions of one rank have the bits of the same contributions on as many.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "call/anywhere/contributions.hpp"

namespace gradcoll::test {
namespace {

template <class T>
std::vector<T> accumulated(const std::vector<std::vector<T>>& inputs, MPI_Op op) {
    std::vector<const void*> sources;
    for (const auto& input : inputs) sources.push_back(input.data());
    std::vector<T> out(inputs.front().size());
    EXPECT_EQ(GC_Accumulate(sources.data(), static_cast<int>(sources.size()), out.data(),
                            static_cast<MPI_Count>(out.size()), datatype_of<T>(), op),
              MPI_SUCCESS);
    return out;
}

template <class T>
void expect_bits_of_ranks(const OwnComm& comm, Data data, std::size_t count, MPI_Op op) {
    std::vector<std::vector<T>> all;
    for (int rank = 0; rank < comm.size(); ++rank) all.push_back(vector_of<T>(data, rank, count));
    std::vector<T> out(count);
    ASSERT_EQ(GC_Allreduce(all[static_cast<std::size_t>(comm.rank())].data(), out.data(),
                           static_cast<int>(count), datatype_of<T>(), op, comm),
              MPI_SUCCESS);
    ASSERT_TRUE(same_bits(accumulated(all, op), out))
        << "count " << count << ", data " << static_cast<int>(data);
}

TEST(Accumulate, HasTheBitsOfAsManyRanks) {
    for (const char* const tree : {"", "flat"}) {
        auto comm = *tree == 0 ? std::make_unique<OwnComm>() : std::make_unique<OwnComm>(tree);
        comm->set("gc_reproducible", "anywhere");
        for (const MPI_Op op : {MPI_SUM, MPI_MIN, MPI_MAX})
            for (const Data data : {Data::plain, Data::far_apart, Data::cancelling, Data::special})
                for (const std::size_t count : lengths) {
                    expect_bits_of_ranks<float>(*comm, data, count, op);
                    expect_bits_of_ranks<double>(*comm, data, count, op);
                }
    }
}

/// More contributions than can be added in double precision at once go by way of integers.
TEST(Accumulate, ZerosAndTheOrderOfManyChangeNothing) {
    std::vector<std::vector<float>> all;
    for (int i = 0; i < 70; ++i) all.push_back(vector_of<float>(Data::far_apart, i, 3000));
    const auto sum = accumulated(all, MPI_SUM);
    std::reverse(all.begin(), all.end());
    for (int i = 0; i < 3; ++i) all.emplace_back(3000, 0.0F);
    EXPECT_TRUE(same_bits(accumulated(all, MPI_SUM), sum));
}

TEST(Accumulate, TheOutputMayBeAnInput) {
    std::vector<std::vector<float>> all = {vector_of<float>(Data::far_apart, 0, 700),
                                           vector_of<float>(Data::far_apart, 1, 700)};
    const auto sum = accumulated(all, MPI_SUM);
    const void* const sources[] = {all[0].data(), all[1].data()};
    ASSERT_EQ(GC_Accumulate(sources, 2, all[1].data(), 700, MPI_FLOAT, MPI_SUM), MPI_SUCCESS);
    EXPECT_TRUE(same_bits(all[1], sum));
}

TEST(Accumulate, IntegersAreCombined) {
    const std::int32_t a[] = {3, -5}, b[] = {4, 7};
    const void* const sources[] = {a, b};
    std::int32_t out[2];
    ASSERT_EQ(GC_Accumulate(sources, 2, out, 2, MPI_INT32_T, MPI_SUM), MPI_SUCCESS);
    EXPECT_EQ(out[0], 7);
    EXPECT_EQ(out[1], 2);
}

TEST(Accumulate, WhatCannotBeKeptOrIsWrongIsAnError) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<float> in(8, 1.0F), out(8, 2.0F);
    const void* const sources[] = {in.data()};
    const auto run = [&](const void* const* from, int inputs, void* to, MPI_Count count,
                         MPI_Datatype type, MPI_Op op) {
        const int code = GC_Accumulate(from, inputs, to, count, type, op);
        int error_class = MPI_SUCCESS;
        MPI_Error_class(code, &error_class);
        return error_class;
    };
    EXPECT_EQ(run(sources, 1, out.data(), 8, MPI_FLOAT, MPI_PROD), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_EQ(run(sources, 0, out.data(), 8, MPI_FLOAT, MPI_SUM), MPI_ERR_ARG);
    EXPECT_EQ(run(nullptr, 1, out.data(), 8, MPI_FLOAT, MPI_SUM), MPI_ERR_ARG);
    EXPECT_EQ(run(sources, 1, out.data(), -1, MPI_FLOAT, MPI_SUM), MPI_ERR_COUNT);
    EXPECT_EQ(run(sources, 1, nullptr, 8, MPI_FLOAT, MPI_SUM), MPI_ERR_BUFFER);
    EXPECT_EQ(run(sources, 1, in.data() + 1, 4, MPI_FLOAT, MPI_SUM), MPI_ERR_BUFFER);
    EXPECT_EQ(run(sources, 1, out.data(), 8, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    EXPECT_EQ(run(sources, 1, out.data(), 8, MPI_FLOAT, MPI_OP_NULL), MPI_ERR_OP);
    EXPECT_EQ(out, std::vector<float>(8, 2.0F));
}

}  // namespace
}  // namespace gradcoll::test
