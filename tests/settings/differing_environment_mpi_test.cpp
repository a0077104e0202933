// Variables that differ across ranks: an error of the first call, on all of them.
#include <cstdlib>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

/// The environment is read at the first call, so each rank can still choose its own, once in a
/// process.
bool transports_differ() {
    return std::getenv("GC_TEST_TRANSPORTS_DIFFER") != nullptr;
}

TEST(DifferingEnvironment, OfTransportsIsAnErrorThatNamesThem) {
    const int rank = rank_of(MPI_COMM_WORLD);
    if (!transports_differ()) GTEST_SKIP() << "GC_TEST_TRANSPORTS_DIFFER is not set";
    setenv("GC_TRANSPORTS", rank == 0 ? "mpi" : "shm,mpi", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    float value = 1;
    const int code = GC_Allreduce(MPI_IN_PLACE, &value, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    const std::string text = error_text(code);
    for (const char* word : {"GC_TRANSPORTS", "'mpi'", "'shm,mpi'"})
        EXPECT_NE(text.find(word), std::string::npos) << text;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST(DifferingEnvironment, IsAnErrorThatNamesTheSettingAndTheRanks) {
    const int rank = rank_of(MPI_COMM_WORLD);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 || transports_differ()) GTEST_SKIP() << "one rank agrees with itself";
    const bool last = rank == size - 1;
    setenv("GC_COMPRESS_BYTES", last ? "lots" : "64K",
           1);  // not allowed, so that the default holds
    setenv("GC_CODEC", last ? "2:4" : "1:4", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<float> values(200'000, 1.0F);
    const int code =
        GC_Allreduce(MPI_IN_PLACE, values.data(), 200'000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    const std::string text = error_text(code);
    for (const std::string& word : {std::string("gc_codec"), std::string("'1:4'"),
                                    std::string("'2:4'"), std::to_string(size - 1)})
        EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_EQ(text.find("gc_compress_bytes"), std::string::npos) << text;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace
}  // namespace gradcoll::test
