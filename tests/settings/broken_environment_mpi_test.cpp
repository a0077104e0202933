// Broken variables and a broken file of settings: the calls work with what is left. Run with the
// variables that tests/settings/CMakeLists.txt sets.
#include <utility>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

TEST(BrokenEnvironment, TheNextWeakerValueHolds) {
    const std::pair<const char*, const char*> expected[] = {
        {"gc_codec", "2:4,down=bf16"}, {"gc_chunks_in_flight", "8"}, {"gc_topology", "auto"},
        {"gc_exchange", "auto"},       {"gc_check", "off"},          {"gc_compress_calls", "all"},
        {"gc_compress_bytes", "1K"},   {"gc_chunk_bytes", "4K"}};
    for (const auto& [key, value] : expected) {
        char text[256];
        ASSERT_EQ(GC_Comm_get_option(MPI_COMM_WORLD, key, text, sizeof text, nullptr), MPI_SUCCESS);
        EXPECT_STREQ(text, value) << key;
    }
}

TEST(BrokenEnvironment, CallsWorkWithWhatIsLeftAndExactly) {
    const OwnComm comm;
    std::vector<float> values(5000, 1.5F);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(comm.stats().calls_compressed, 0U) << "among what is broken are filters";
    EXPECT_EQ(values, std::vector<float>(5000, 1.5F * static_cast<float>(comm.size())));
}

TEST(BrokenEnvironment, ABadValueOfTheProgramIsStillAnError) {
    const OwnComm comm;
    EXPECT_EQ(class_of(GC_Comm_set_option(comm, "gc_chunks_in_flight", "99")), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Comm_set_option(comm, "gc_compress_calls", "9-1")), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Comm_set_option(comm, "gc_compress_bytes", "1K-most")), MPI_ERR_ARG);
}

}  // namespace
}  // namespace gradcoll::test
