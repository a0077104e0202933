// Work is done on all ranks, or counts as done on none.
#include "comm/agreement.hpp"

#include <new>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

class DoneOnAll : public testing::Test {
  protected:
    void SetUp() override { PMPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
    void TearDown() override { PMPI_Comm_free(&comm_); }
    bool is_last() const { return rank_of(comm_) == size_of(comm_) - 1; }

    MPI_Comm comm_ = MPI_COMM_NULL;
};

TEST_F(DoneOnAll, IsOkWhereAllAre) {
    EXPECT_TRUE(done_on_all(comm_, "count", [] { return Status(); }).ok());
}

TEST_F(DoneOnAll, FailsOnAllWhereOneFails) {
    const Status status = done_on_all(comm_, "count to three", [this] {
        return is_last() ? Status(Code::unsupported, "too far") : Status();
    });
    EXPECT_EQ(status.code(), is_last() ? Code::unsupported : Code::peer_failed);
    EXPECT_EQ(status.message(), is_last() ? "too far" : "another rank could not count to three");
}

TEST_F(DoneOnAll, FailsOnAllWhereOneThrows) {
    const Status status = done_on_all(comm_, "count", [this] {
        if (is_last()) throw std::bad_alloc();
        return Status();
    });
    EXPECT_EQ(status.code(), is_last() ? Code::out_of_memory : Code::peer_failed);
}

}  // namespace
}  // namespace gradcoll::test
