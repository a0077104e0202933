// gc_compress_calls and gc_compress_bytes for the library's own calls: all kinds of calls of a
// communicator are numbered together.
#include <utility>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr int count = 20'000;

class CompressCalls : public testing::Test {
  protected:
    CompressCalls() : comm("flat"), data(count, 1.0F) {
        comm.set("gc_codec", "2:4");
        comm.set("gc_compress_calls", "1,2");
    }

    /// Makes the call and returns whether it was compressed.
    template <class Call>
    bool compresses(Call&& call) {
        const auto before = comm.stats().calls_compressed;
        call();
        return comm.stats().calls_compressed == before + 1;
    }
    bool blocking_call_compresses(MPI_Op op = MPI_SUM, int elements = count) {
        return compresses([&] {
            EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, data.data(), elements, MPI_FLOAT, op, comm),
                      MPI_SUCCESS);
        });
    }

    bool alone = size_of(MPI_COMM_WORLD) == 1;
    OwnComm comm;
    std::vector<float> data;
};

TEST_F(CompressCalls, CountsCallsThatCouldBeCompressedOnly) {
    EXPECT_FALSE(blocking_call_compresses()) << "call 0";
    EXPECT_FALSE(blocking_call_compresses(MPI_MAX)) << "not numbered";
    EXPECT_EQ(blocking_call_compresses(), !alone) << "call 1";
    EXPECT_EQ(blocking_call_compresses(), !alone) << "call 2";
    EXPECT_FALSE(blocking_call_compresses()) << "call 3";
}

TEST_F(CompressCalls, CountsStartsOfPersistentRequestsWithTheirFeedback) {
    std::vector<float> gradient(count, 1.0F);
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, gradient.data(), count, MPI_FLOAT, MPI_SUM, comm,
                                MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    const auto start = [&] {
        EXPECT_EQ(GC_Start(&request), MPI_SUCCESS);
        EXPECT_EQ(GC_Wait(&request), MPI_SUCCESS);
    };
    EXPECT_FALSE(compresses(start)) << "call 0";
    EXPECT_EQ(compresses(start), !alone) << "call 1";
    EXPECT_EQ(blocking_call_compresses(), !alone) << "call 2";
    EXPECT_FALSE(compresses(start)) << "call 3";
    EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

TEST_F(CompressCalls, LeavesVectorsBeyondMaxBytesUnnumbered) {
    comm.set("gc_compress_bytes", "0-64K");
    EXPECT_FALSE(blocking_call_compresses()) << "80,000 bytes, not numbered";
    EXPECT_FALSE(blocking_call_compresses(MPI_SUM, 10'000)) << "call 0";
    EXPECT_EQ(blocking_call_compresses(MPI_SUM, 10'000), !alone) << "call 1";
    EXPECT_FALSE(blocking_call_compresses());
    EXPECT_EQ(blocking_call_compresses(MPI_SUM, 10'000), !alone) << "call 2";
}

}  // namespace
}  // namespace gradcoll::test
