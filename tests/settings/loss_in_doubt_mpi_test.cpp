// A setting that limits loss is ignored, on all ranks or on one: every sum is exact on all of them.
// Run with GC_TEST_IGNORED=NAME=VALUE, GC_TEST_IGNORED_BY=RANK or all.
#include <cstdlib>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

const char* variable(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr ? text : "";
}

/// The environment is read at the first call, so each rank can still choose its own.
void set_ignored(int rank) {
    const std::string by = variable("GC_TEST_IGNORED_BY");
    if (by != "all" && by != std::to_string(rank)) return;
    const std::string setting = variable("GC_TEST_IGNORED");
    const std::size_t equals = setting.find('=');
    ASSERT_NE(equals, std::string::npos) << "GC_TEST_IGNORED=" << setting;
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
}

constexpr int count = 100'000;

/// Two of four values are small, so that 2:4 would drop them.
void expect_exact_sum(MPI_Comm comm) {
    std::vector<float> values(count), expected(count);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 2 == 0 ? 1000.0F : 1.0F;
        expected[i] = values[i] * static_cast<float>(size_of(comm));
    }
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(values, expected);
}

TEST(LossInDoubt, IsExactWhateverTheProgramSays) {
    set_ignored(rank_of(MPI_COMM_WORLD));
    expect_exact_sum(MPI_COMM_WORLD);
    const PlainComm comm;
    ASSERT_EQ(GC_Comm_set_codec(comm, "1:4"), MPI_SUCCESS);
    expect_exact_sum(comm);
    const PlainComm known;  // its processes have agreed before
    expect_exact_sum(known);
    EXPECT_EQ(comm.stats().calls_compressed + known.stats().calls_compressed, 0U);
    EXPECT_NE(explained_sum(comm, count, MPI_FLOAT)
                  .find("a setting that limits what sums may lose is ignored, so all are exact"),
              std::string::npos);
}

TEST(LossInDoubt, HoldsForRequestsWithCodecsOfTheirOwn) {
    const PlainComm comm;
    const Info info{{"gc_codec", "1:4"}, {"gc_compress_bytes", "0"}};
    std::vector<float> values(count, 1.5F), sums(count);
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(values.data(), sums.data(), count, MPI_FLOAT, MPI_SUM, comm, info,
                                &request),
              MPI_SUCCESS);
    for (std::size_t i = 1; i < values.size(); i += 2) values[i] = 0.25F;
    ASSERT_EQ(GC_Start(&request), MPI_SUCCESS);
    ASSERT_EQ(GC_Wait(&request), MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(sums[i], values[i] * static_cast<float>(comm.size())) << i;
    EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
