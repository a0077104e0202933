// Settings that only the environment gives: run with GC_TOPOLOGY, GC_CODEC, GC_COMPRESS_BYTES and a
// misspelt variable.
#include <cstdlib>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

std::string option(MPI_Comm comm, const char* key) {
    char value[256];
    EXPECT_EQ(GC_Comm_get_option(comm, key, value, sizeof value, nullptr), MPI_SUCCESS);
    return value;
}

TEST(Environment, TheWrittenTreeIsTheTreeOfTheWorld) {
    std::size_t length = 256;
    char text[256];
    ASSERT_EQ(GC_Comm_get_tree(MPI_COMM_WORLD, GC_TREE_EXPRESSION, text, &length), MPI_SUCCESS);
    EXPECT_STREQ(text, "((0 1)(2-4))");
}

TEST(Environment, TheCodecServesCommunicatorsThatSayNothing) {
    const OwnComm comm;
    std::vector<float> values = floats<float>(comm.rank(), 5000);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    EXPECT_TRUE(same_on_all_ranks(values, comm));
}

TEST(Environment, ASettingOfTheCommunicatorWins) {
    const OwnComm comm;
    EXPECT_EQ(option(comm, "gc_codec"), "2:4");
    ASSERT_EQ(GC_Comm_set_codec(comm, "exact"), MPI_SUCCESS);
    EXPECT_EQ(option(comm, "gc_codec"), "exact");
}

TEST(Environment, SubCommunicatorsGetThePartOfTheTreeThatIsTheirs) {
    MPI_Comm tail = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) == 0 ? 0 : 1, 0, &tail);
    std::size_t length = 256;
    char text[256];
    ASSERT_EQ(GC_Comm_get_tree(tail, GC_TREE_EXPRESSION, text, &length), MPI_SUCCESS);
    if (rank_of(MPI_COMM_WORLD) != 0) {
        EXPECT_STREQ(text, "(0(1-3))");
    }
    MPI_Comm_free(&tail);
}

}  // namespace
}  // namespace gradcoll::test
