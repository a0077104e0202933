// The second call of a shape allocates nothing of ours. Linked statically, so that every operator
// new of the library is counted.
#include "api/api_support.hpp"
#include "support/counting_new.hpp"

namespace gradcoll::test {
namespace {

TEST(Allocation, TheSecondCallOfAShapeAllocatesNothing) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    for (const char* codec : {"exact", "2:4"}) {
        ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        std::vector<float> in = floats<float>(comm.rank(), 300000), out(in.size());
        const auto call = [&] {
            return GC_Allreduce(in.data(), out.data(), 300000, MPI_FLOAT, MPI_SUM, comm);
        };
        ASSERT_EQ(call(), MPI_SUCCESS);

        const long before = allocation_count();
        const int code = call();
        const long after = allocation_count();

        EXPECT_EQ(code, MPI_SUCCESS);
        EXPECT_EQ(after, before) << codec;
    }
}

TEST(Allocation, TheSecondStartOfARequestAllocatesNothing) {
    const OwnComm comm("flat");
    ASSERT_EQ(GC_Comm_set_codec(comm, "2:4"), MPI_SUCCESS);
    std::vector<float> values = floats<float>(comm.rank(), 100000);
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, values.data(), 100000, MPI_FLOAT, MPI_SUM, comm,
                                MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    const auto step = [&] { return GC_Start(&request) | GC_Wait(&request); };
    ASSERT_EQ(step(), MPI_SUCCESS);

    const long before = allocation_count();
    const int code = step();
    const long after = allocation_count();

    EXPECT_EQ(code, MPI_SUCCESS);
    EXPECT_EQ(after, before);
    EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
