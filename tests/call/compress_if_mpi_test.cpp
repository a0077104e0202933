// gc_compress_if=pays, the default: what codecs would make slower stays exact, bit for bit.
#include <cstdio>
#include <fstream>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr int count = 1 << 18;

class CompressIf : public testing::Test {
  protected:
    /// Sums integers with MPI, as every order of additions gives the same sum.
    CompressIf() {
        const std::vector<float> values = floats<float>(comm.rank(), count);
        for (std::size_t i = 0; i < count; ++i) in[i] = std::round(1000 * values[i]);
        MPI_Allreduce(in.data(), exact.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }

    void call() {
        EXPECT_EQ(GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_on_all_ranks(out, comm));
    }
    /// Sets a written tree of one level, whose links carry so many GB/s.
    void set_links(double gbytes_per_s) {
        const std::string path =
            testing::TempDir() + "compress_if." + std::to_string(comm.size()) + ".json";
        if (comm.rank() == 0) {
            std::ofstream file(path);
            file << R"({"kind": "switch", "children": [)";
            for (int rank = 0; rank < comm.size(); ++rank)
                file << (rank > 0 ? "," : "") << R"({"bandwidth_gbytes_per_s": )" << gbytes_per_s
                     << R"(, "rank": )" << rank << '}';
            file << "]}";
        }
        comm.set("gc_topology", ("json:" + path).c_str());
        if (comm.rank() == 0) std::remove(path.c_str());
    }
    std::string explained() { return explained_sum(comm, count, MPI_FLOAT); }

    bool alone = size_of(MPI_COMM_WORLD) == 1;
    OwnComm comm;
    std::vector<float> in = std::vector<float>(count);
    std::vector<float> out = std::vector<float>(count);
    std::vector<float> exact = std::vector<float>(count);
};

/// This is the first test, as it is said once a process.
TEST_F(CompressIf, ACodecThatNoCallWithAResidualUsesIsSaidOnce) {
    comm.set("gc_codec", "2:4");
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, count, MPI_FLOAT, &residual), MPI_SUCCESS);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(
            GC_Allreduce_residual(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm, residual),
            MPI_SUCCESS);
    const std::string said = testing::internal::GetCapturedStderr();
    GC_Residual_free(&residual);
    EXPECT_EQ(out, exact);
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
    const std::size_t first = said.find("codec 2:4 is not used");
    EXPECT_EQ(first != std::string::npos, !alone && comm.rank() == 0) << said;
    EXPECT_EQ(said.rfind("is not used"), said.find("is not used")) << said;
}

TEST_F(CompressIf, RanksOfOneHostStayExactInItsMemory) {
    comm.set("gc_codec", "2:4");
    call();
    EXPECT_EQ(out, exact);
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
    if (alone) return;
    EXPECT_NE(explained().find("goes through the memory that all its ranks share, exact: its codec "
                               "would take longer than it saves (gc_compress_if=pays)"),
              std::string::npos)
        << explained();
}

TEST_F(CompressIf, AlwaysTakesTheCodecAllTheSame) {
    comm.set("gc_codec", "2:4");
    comm.set("gc_compress_if", "always");
    call();
    EXPECT_EQ(comm.stats().calls_compressed, alone ? 0U : 1U);
    EXPECT_EQ(out == exact, alone);
}

TEST_F(CompressIf, SettingsThatChangeAreAskedAgain) {
    comm.set("gc_codec", "2:4");
    for (const char* value : {"pays", "always", "pays"}) {
        comm.set("gc_compress_if", value);
        call();
        call();
    }
    EXPECT_EQ(comm.stats().calls_compressed, alone ? 0U : 2U);
}

TEST_F(CompressIf, ASlowLinkOfAWrittenTreeIsCompressed) {
    if (alone) GTEST_SKIP() << "needs two ranks";
    set_links(0.125);
    comm.set("gc_codec", "2:4");
    call();
    EXPECT_EQ(comm.stats().calls_compressed, 1U) << explained();
}

TEST_F(CompressIf, ExactVectorsThatAreShortPassForAReasonOfTheirOwn) {
    if (alone) GTEST_SKIP() << "needs two ranks";
    set_links(400);
    comm.set("gc_codec", "2:4");
    comm.set("gc_tree_min_bytes", "1G");
    call();
    EXPECT_EQ(out, exact);
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
    EXPECT_NE(std::string(comm.stats().last_pass_reason).find("codec would take longer"),
              std::string::npos)
        << comm.stats().last_pass_reason;
}

}  // namespace
}  // namespace gradcoll::test
