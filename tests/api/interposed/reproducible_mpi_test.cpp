// GC_REPRODUCIBLE=on: every call of a communicator goes one way, from the first one on.
#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

bool alone() {
    return size_of(MPI_COMM_WORLD) == 1;
}

/// Returns the sum of a vector that depends on the order of additions.
std::vector<float> sum_of(const PlainComm& comm, std::size_t count, bool& served) {
    std::vector<float> in = floats<float>(comm.rank(), count);
    for (std::size_t i = 0; i < count; ++i) in[i] *= std::ldexp(1.0F, comm.rank() * 5 % 23);
    std::vector<float> out(count);
    served = connected()
                 .allreduce(in.data(), out.data(), static_cast<std::int64_t>(count), MPI_FLOAT,
                            MPI_SUM, comm)
                 .served;
    return out;
}

TEST(Reproducible, TheFirstCallIsServedWhateverItsSize) {
    for (const std::size_t count : {1U, 100U, 50'000U}) {
        const PlainComm comm;
        bool served = false;
        const std::vector<float> first = sum_of(comm, count, served);
        EXPECT_EQ(served, !alone()) << count;
        for (int call = 0; call < 60; ++call) {
            EXPECT_EQ(sum_of(comm, count, served), first) << "call " << call;
            EXPECT_EQ(served, !alone());
        }
    }
}

/// What a nonblocking call does must not depend on whether a blocking one came before.
TEST(Reproducible, NonblockingCallsAlwaysPass) {
    const PlainComm comm;
    const float in = 1;
    float out = 0;
    bool served = false;
    for (int i = 0; i < 2; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        EXPECT_FALSE(
            connected().iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, comm, &request).served);
        sum_of(comm, 10, served);
        EXPECT_EQ(served, !alone());
    }
}

TEST(Reproducible, NothingThatIsMeasuredInEveryRunIsATree) {
    const PlainComm comm;
    const int code = GC_Comm_set_option(comm, "gc_topology", "probe");
    ASSERT_NE(code, MPI_SUCCESS);
    EXPECT_NE(error_text(code).find("gc_reproducible=on wants the same tree each time"),
              std::string::npos)
        << error_text(code);
    EXPECT_EQ(GC_Comm_set_option(comm, "gc_topology", "hwloc+none"), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
