// What libgradcoll_pmpi may ask of the library: the table called as the interposer calls it.
#include <numeric>

#include "api/interposed_support.hpp"

namespace gradcoll::test {
namespace {

TEST(Interposed, ALongAllreduceIsServedAndTheSumIsRight) {
    const Table& table = connected();
    const PlainComm comm;
    std::vector<float> input(long_count, static_cast<float>(comm.rank() + 1));
    std::vector<float> output(long_count, -1.0F);
    const Answer answer =
        table.allreduce(input.data(), output.data(), long_count, MPI_FLOAT, MPI_SUM, comm);
    if (comm.size() == 1) {
        EXPECT_FALSE(answer.served);
        return;
    }
    ASSERT_TRUE(answer.served);
    EXPECT_EQ(answer.code, MPI_SUCCESS);
    const auto sum = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
    EXPECT_EQ(output, std::vector<float>(long_count, sum));
}

}  // namespace
}  // namespace gradcoll::test
