// A communicator whose ranks disagree about the settings is left to the MPI library, for good.
#include <cstdlib>

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

/// The environment is read at the first call, so each rank can still choose its own.
TEST(InterposedRefused, CallsAreLeftAndTheProgramGoesOn) {
    const int rank = rank_of(MPI_COMM_WORLD);
    const int size = size_of(MPI_COMM_WORLD);
    if (size == 1) GTEST_SKIP() << "one rank agrees with itself";
    setenv("GC_CODEC", rank == size - 1 ? "2:4" : "1:4", 1);
    const PlainComm comm;
    std::vector<float> input(long_count, 1.0F);
    std::vector<float> output(long_count);
    for (int call = 0; call < 3; ++call) {
        EXPECT_FALSE(
            connected()
                .allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
                .served);
        ASSERT_EQ(MPI_Allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(output, std::vector<float>(long_count, static_cast<float>(size)));
    }
    EXPECT_FALSE(comm.is_attached());
    // The library's own calls ask again and say what is wrong.
    EXPECT_EQ(class_of(GC_Comm_attach(comm)), MPI_ERR_ARG);
}

}  // namespace
}  // namespace gradcoll::test
