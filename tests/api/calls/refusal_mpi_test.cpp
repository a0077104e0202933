// A rank whose own buffers are wrong tells the others: nobody waits for ever, all know whose fault
// it is, and the communicator can be used again.
#include <unistd.h>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

using Floats = std::vector<float>;

void expect_sum(const OwnComm& comm, std::size_t count) {
    const Floats in(count, static_cast<float>(comm.rank() + 1));
    Floats out(count, -1.0F);
    ASSERT_EQ(
        GC_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm),
        MPI_SUCCESS);
    const float sum = static_cast<float>(comm.size() * (comm.size() + 1)) / 2;
    EXPECT_EQ(out, Floats(count, sum));
}

/// Before and after it, the communicator works.
void expect_refused(const OwnComm& comm, std::size_t count, int refusing) {
    SCOPED_TRACE(std::to_string(count) + " elements, rank " + std::to_string(refusing));
    const Floats in(count, 1.0F);
    Floats out(count);
    const bool refuses = comm.rank() == refusing;
    const int code = GC_Allreduce(refuses ? nullptr : in.data(), out.data(),
                                  static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm);
    const std::string text = error_text(code);
    EXPECT_EQ(code, refuses ? MPI_ERR_BUFFER : MPI_ERR_OTHER) << text;
    const std::string told = "rank " + std::to_string(refusing) + " cannot go on: a buffer";
    const bool fits = count > 8 * static_cast<std::size_t>(comm.size());
    EXPECT_NE(text.find(refuses ? "sendbuf"
                        : fits  ? told
                                : "cannot go on"),
              std::string::npos)
        << text;
}

void expect_refusals(const OwnComm& comm) {
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    alarm(120);  // a call that hangs is a failure
    for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{300'000}})
        for (int refusing = 0; refusing < comm.size(); ++refusing) {
            expect_refused(comm, count, refusing);
            expect_sum(comm, count);
        }
    alarm(0);
}

TEST(Refusal, OverTrees) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        expect_refusals(OwnComm(tree));
    }
}

TEST(Refusal, OverTreesWithCodecs) {
    for (const char* codec : {"bf16", "2:4+int8", "bound/abs=1e-3+zstd"}) {
        SCOPED_TRACE(codec);
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
        expect_refused(comm, 300'000, comm.size() - 1);
    }
}

TEST(Refusal, ThroughTheMemoryOfOneHost) {
    expect_refusals(OwnComm());
}

/// The others look at their inputs before the call.
TEST(Refusal, WithATolerance) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    comm.set("gc_tolerance", "abs=0.1");
    const Floats in(5000, 1.0F);
    Floats out(5000);
    const bool refuses = comm.rank() == 0;
    EXPECT_NE(
        GC_Allreduce(refuses ? nullptr : in.data(), out.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
        MPI_SUCCESS);
    expect_sum(comm, 5000);
}

/// The first call of a communicator, which attaches it.
TEST(Refusal, OfTheFirstCall) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    float value = 1;
    float* const out = comm.rank() == 0 ? nullptr : &value;
    EXPECT_NE(GC_Allreduce(MPI_IN_PLACE, out, 1, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    expect_sum(comm, 10);
}

}  // namespace
}  // namespace gradcoll::test
