// Exact calls whose floats are packed without loss where they leave a host (compress/zip): the bits
// of plain ones, in fewer bytes.
#include <cstdio>
#include <fstream>
#include <random>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr int count = 100'003;

/// Returns whole multiples of 2^-10, some of them zeros: all orders of additions give one sum.
template <class T>
std::vector<T> values_of(int rank, std::size_t length) {
    std::mt19937 random(static_cast<unsigned>(rank) + 1);
    std::vector<T> values(length);
    for (T& value : values) {
        const auto any = static_cast<int>(random() % (1U << (4 + random() % 16)));
        value = random() % 4 == 0 ? T{0} : static_cast<T>(any - (1 << 10)) / 1024;
    }
    return values;
}

class Zipped : public testing::Test {
  protected:
    void SetUp() override {
        if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nothing is sent";
        set_slow_links(comm);
    }
    /// Sets a tree of a switch for each two hosts and one above them; links carry 0.05 GB/s.
    static void set_slow_links(const OwnComm& comm) {
        const std::string path =
            testing::TempDir() + "zipped." + std::to_string(comm.size()) + ".json";
        if (comm.rank() == 0) {
            const auto host = [](int rank) {
                return R"({"bandwidth_gbytes_per_s": 0.05, "rank": )" + std::to_string(rank) + '}';
            };
            std::ofstream file(path);
            file << R"({"kind": "switch", "children": [)";
            for (int rank = 0; rank < comm.size(); rank += 2) {
                file << (rank > 0 ? "," : "");
                if (rank + 1 == comm.size())
                    file << host(rank);
                else
                    file << R"({"kind": "switch", "bandwidth_gbytes_per_s": 0.05, "children": [)"
                         << host(rank) << ',' << host(rank + 1) << "]}";
            }
            file << "]}";
        }
        comm.set("gc_topology", ("json:" + path).c_str());
        if (comm.rank() == 0) std::remove(path.c_str());
    }
    /// Expects that what was sent so far took less than the same without packing.
    void expect_fewer_bytes() const {
        const GC_Stats stats = comm.stats();
        EXPECT_LT(static_cast<double>(stats.bytes_sent),
                  0.95 * static_cast<double>(stats.bytes_sent_exact));
        EXPECT_EQ(stats.calls_compressed, 0U) << "packing loses nothing";
    }
    template <class T>
    void expect_sums(MPI_Datatype type) {
        for (const int length : {count, 1 << 19}) {
            const std::vector<T> in = values_of<T>(comm.rank(), static_cast<std::size_t>(length));
            std::vector<T> want(in.size()), out(in.size()), in_place = in;
            MPI_Allreduce(in.data(), want.data(), length, type, MPI_SUM, comm);
            ASSERT_EQ(GC_Allreduce(in.data(), out.data(), length, type, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_EQ(out, want);
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, in_place.data(), length, type, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_EQ(in_place, want);
        }
    }

    OwnComm comm;
};

TEST_F(Zipped, SumsHaveTheBitsOfPlainOnesInFewerBytes) {
    expect_sums<float>(MPI_FLOAT);
    expect_fewer_bytes();
    EXPECT_NE(explained_sum(comm, count, MPI_FLOAT).find("zip"), std::string::npos);
}

TEST_F(Zipped, DoublesToo) {
    expect_sums<double>(MPI_DOUBLE);
    expect_fewer_bytes();
}

TEST_F(Zipped, CallsThatNobodyWaitsInToo) {
    const std::vector<float> in = values_of<float>(comm.rank(), count);
    std::vector<float> want(in.size()), out(in.size());
    MPI_Allreduce(in.data(), want.data(), count, MPI_FLOAT, MPI_SUM, comm);
    GC_Comm_attach(comm);
    MPI_Request started = MPI_REQUEST_NULL;
    ASSERT_EQ(GC_Iallreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm, &started),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&started, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(out, want);
    GC_Request kept = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm,
                                MPI_INFO_NULL, &kept),
              MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
        out.assign(out.size(), -1);
        ASSERT_EQ(GC_Start(&kept), MPI_SUCCESS);
        ASSERT_EQ(GC_Wait(&kept), MPI_SUCCESS);
        EXPECT_EQ(out, want);
    }
    EXPECT_EQ(GC_Request_free(&kept), MPI_SUCCESS);
    expect_fewer_bytes();
}

TEST_F(Zipped, ScatteredSumsAndGatheredBlocksToo) {
    const int block = 40'000;
    const auto n = static_cast<std::size_t>(comm.size());
    const std::vector<float> in = values_of<float>(comm.rank(), block * n);
    std::vector<float> want(block), out(block);
    MPI_Reduce_scatter_block(in.data(), want.data(), block, MPI_FLOAT, MPI_SUM, comm);
    ASSERT_EQ(GC_Reduce_scatter_block(in.data(), out.data(), block, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(out, want);
    expect_fewer_bytes();
    std::vector<std::uint32_t> bits(block), all(block * n), right(block * n);
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = std::bit_cast<std::uint32_t>(out[i]);
    bits[5] = 0x7fa00001;  // a signalling NaN, which no sum would give back
    bits[6] = 0x80000000;
    MPI_Allgather(bits.data(), block, MPI_FLOAT, right.data(), block, MPI_FLOAT, comm);
    ASSERT_EQ(GC_Allgather(bits.data(), block, MPI_FLOAT, all.data(), block, MPI_FLOAT, comm),
              MPI_SUCCESS);
    EXPECT_EQ(all, right);
}

TEST_F(Zipped, GradientsOfAnEngineToo) {
    GC_Engine engine = GC_ENGINE_NULL;
    ASSERT_EQ(GC_Engine_create(comm, MPI_INFO_NULL, &engine), MPI_SUCCESS);
    const std::vector<float> in = values_of<float>(comm.rank(), count);
    std::vector<float> want(in.size()), out(in.size());
    MPI_Allreduce(in.data(), want.data(), count, MPI_FLOAT, MPI_SUM, comm);
    for (int step = 0; step < 3; ++step) {
        GC_Handle handle = GC_HANDLE_NULL;
        ASSERT_EQ(
            GC_Submit(engine, "w", in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, 0, &handle),
            MPI_SUCCESS);
        ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
        EXPECT_EQ(out, want);
    }
    EXPECT_EQ(GC_Engine_free(&engine), MPI_SUCCESS);
}

TEST_F(Zipped, WhatIsNoSumOfFloatsIsSentAsItIs) {
    const std::vector<float> in = values_of<float>(comm.rank(), count);
    std::vector<float> out(in.size());
    ASSERT_EQ(GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_MAX, comm), MPI_SUCCESS);
    std::vector<int> numbers(count, comm.rank()), sums(count);
    ASSERT_EQ(GC_Allreduce(numbers.data(), sums.data(), count, MPI_INT, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(comm.stats().bytes_sent, comm.stats().bytes_sent_exact);
}

TEST_F(Zipped, AlwaysSendsWhatWasNamed) {
    comm.set("gc_compress_if", "always");
    expect_sums<float>(MPI_FLOAT);
    EXPECT_EQ(comm.stats().bytes_sent, comm.stats().bytes_sent_exact);
}

}  // namespace
}  // namespace gradcoll::test
