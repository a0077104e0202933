// gc_reproducible=anywhere for calls that nobody waits in: nonblocking and persistent ones have the
// bits of blocking ones, on every tree, in flight at the same time, and on a single rank.
#include <algorithm>
#include <memory>
#include <string>

#include "call/anywhere/contributions.hpp"

namespace gradcoll::test {
namespace {

/// Returns the communicators on which calls go through memory and over trees.
std::vector<std::unique_ptr<OwnComm>> comms_anywhere() {
    std::vector<std::unique_ptr<OwnComm>> comms;
    comms.push_back(std::make_unique<OwnComm>());
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        comms.push_back(std::make_unique<OwnComm>(tree));
    for (const auto& comm : comms) comm->set("gc_reproducible", "anywhere");
    float warm = 1;  // the memory of one host is there from the first blocking call on
    EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, &warm, 1, MPI_FLOAT, MPI_SUM, *comms.front()),
              MPI_SUCCESS);
    return comms;
}

constexpr Data all_data[] = {Data::plain, Data::far_apart, Data::cancelling, Data::special};

template <class T>
void expect_started_sums(const OwnComm& comm) {
    for (const std::size_t count : lengths) {
        std::vector<std::vector<T>> ins, outs(std::size(all_data), std::vector<T>(count));
        std::vector<MPI_Request> requests(std::size(all_data), MPI_REQUEST_NULL);
        for (const Data data : all_data) ins.push_back(vector_of<T>(data, comm.rank(), count));
        for (std::size_t i = 0; i < ins.size(); ++i)  // all are in flight at once
            ASSERT_EQ(GC_Iallreduce(ins[i].data(), outs[i].data(), static_cast<int>(count),
                                    datatype_of<T>(), MPI_SUM, comm, &requests[i]),
                      MPI_SUCCESS);
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t i = 0; i < ins.size(); ++i)
            ASSERT_TRUE(same_bits(outs[i], sum_of_all<T>(all_data[i], comm.size(), count)))
                << "count " << count << ", data " << i;
    }
}

TEST(AnywhereStarted, NonblockingSumsHaveTheBitsOfAll) {
    for (const auto& comm : comms_anywhere()) {
        expect_started_sums<float>(*comm);
        expect_started_sums<double>(*comm);
    }
}

template <class T>
void expect_persistent_sums(const OwnComm& comm, MPI_Info info) {
    for (const std::size_t count : lengths) {
        std::vector<T> in(count), out(count);
        GC_Request request = GC_REQUEST_NULL;
        ASSERT_EQ(GC_Allreduce_init(in.data(), out.data(), static_cast<int>(count),
                                    datatype_of<T>(), MPI_SUM, comm, info, &request),
                  MPI_SUCCESS);
        for (const Data data : all_data) {
            const auto values = vector_of<T>(data, comm.rank(), count);
            std::copy(values.begin(), values.end(), in.begin());
            ASSERT_EQ(GC_Start(&request), MPI_SUCCESS);
            ASSERT_EQ(GC_Wait(&request), MPI_SUCCESS);
            ASSERT_TRUE(same_bits(out, sum_of_all<T>(data, comm.size(), count)))
                << "count " << count;
        }
        ASSERT_EQ(GC_Request_free(&request), MPI_SUCCESS);
    }
}

TEST(AnywhereStarted, PersistentSumsHaveTheBitsOfAllAtEveryStart) {
    for (const auto& comm : comms_anywhere()) {
        expect_persistent_sums<float>(*comm, MPI_INFO_NULL);
        expect_persistent_sums<double>(*comm, MPI_INFO_NULL);
    }
}

TEST(AnywhereStarted, ARequestMayAskForItAlone) {
    const OwnComm comm("flat");
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_reproducible", "anywhere");
    expect_persistent_sums<float>(comm, info);
    float in = 1, out = 0;
    GC_Request request = GC_REQUEST_NULL;
    EXPECT_NE(GC_Allreduce_init(&in, &out, 1, MPI_FLOAT, MPI_PROD, comm, info, &request),
              MPI_SUCCESS);
    MPI_Info_free(&info);
}

TEST(AnywhereStarted, MinimaAndMaximaAreThoseOfBlockingCalls) {
    for (const auto& comm : comms_anywhere())
        for (const MPI_Op op : {MPI_MIN, MPI_MAX}) {
            const auto in = vector_of<float>(Data::special, comm->rank(), 3000);
            std::vector<float> blocking(3000), started(3000);
            ASSERT_EQ(GC_Allreduce(in.data(), blocking.data(), 3000, MPI_FLOAT, op, *comm),
                      MPI_SUCCESS);
            MPI_Request request = MPI_REQUEST_NULL;
            ASSERT_EQ(
                GC_Iallreduce(in.data(), started.data(), 3000, MPI_FLOAT, op, *comm, &request),
                MPI_SUCCESS);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            ASSERT_TRUE(same_bits(started, blocking));
        }
}

/// Far below the largest of its block a contribution is rounded, on one rank, too.
TEST(AnywhereStarted, ASingleRankRoundsAsManyDo) {
    MPI_Comm alone = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    ASSERT_EQ(GC_Comm_set_option(alone, "gc_reproducible", "anywhere"), MPI_SUCCESS);
    const auto in = vector_of<float>(Data::far_apart, 7, 1000);
    std::vector<const void*> sources = {in.data()};
    std::vector<float> right(1000), blocking(1000), started(1000), persistent(1000);
    reduce_many(grid_reducer(ElementType::f32), sources, right.data(), 1000, false);
    EXPECT_FALSE(same_bits(right, in)) << "the data show nothing";
    ASSERT_EQ(GC_Allreduce(in.data(), blocking.data(), 1000, MPI_FLOAT, MPI_SUM, alone),
              MPI_SUCCESS);
    EXPECT_TRUE(same_bits(blocking, right));
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(GC_Iallreduce(in.data(), started.data(), 1000, MPI_FLOAT, MPI_SUM, alone, &request),
              MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(same_bits(started, right));
    GC_Request again = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(in.data(), persistent.data(), 1000, MPI_FLOAT, MPI_SUM, alone,
                                MPI_INFO_NULL, &again),
              MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(GC_Start(&again), MPI_SUCCESS);
        ASSERT_EQ(GC_Wait(&again), MPI_SUCCESS);
        EXPECT_TRUE(same_bits(persistent, right));
    }
    ASSERT_EQ(GC_Request_free(&again), MPI_SUCCESS);
    MPI_Comm_free(&alone);
}

/// A rank with wrong buffers gets its error, and the others theirs.
TEST(AnywhereStarted, ARankThatCannotTakePartKeepsNobodyWaiting) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "needs two ranks";
    for (const auto& comm : comms_anywhere()) {
        std::vector<float> both(5000, 1.0F);
        float* const out = comm->rank() == 0 ? both.data() + 10 : both.data() + 2500;
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = GC_Iallreduce(both.data(), out, 2500, MPI_FLOAT, MPI_SUM, *comm, &request);
        EXPECT_EQ(code == MPI_SUCCESS, comm->rank() != 0);
        if (code == MPI_SUCCESS) {
            EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        expect_started_sums<float>(*comm);
    }
}

}  // namespace
}  // namespace gradcoll::test
