// gc_tolerance: no element of any sum is further off than promised, on any rank.
#include "api/calls/tolerance_support.hpp"

namespace gradcoll::test {
namespace {

template <class T>
void expect_kept(const OwnComm& comm, Value value, const Whole<T>& whole, const std::string& kind,
                 double tolerance) {
    comm.set("gc_tolerance", (kind + std::to_string(tolerance)).c_str());
    const std::size_t count = whole.sums.size();
    std::vector<T> values = values_of<T>(value, comm.rank(), count);
    const std::uint64_t compressed = comm.stats().calls_compressed;
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), datatype<T>(),
                           MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_TRUE(same_on_all_ranks(values, comm));
    const long double said = std::stold(std::to_string(tolerance));
    long double promised = kind == "abs=" ? said : whole.range * said;
    if (comm.stats().calls_compressed == compressed)  // left exact: additions alone may lose more
        promised = std::max(promised, whole.additions_lose());
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_LE(std::abs(static_cast<long double>(values[i]) - whole.sums[i]), promised)
            << kind << tolerance << ", element " << i << " of " << count;
}

void expect_every_sum_kept(const std::string& tree, const char* codec,
                           const std::vector<const char*>& kinds) {
    SCOPED_TRACE(tree + " " + codec);
    const OwnComm comm(tree);
    comm.set("gc_tolerance", "abs=1");
    ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
    for (const Value value : distributions)
        for (const std::size_t count : lengths) {
            const Whole<float> floats(value, comm.size(), count);
            const Whole<double> doubles(value, comm.size(), count);
            for (const double tolerance : {0.5, 0.01, 0.0005, 0.00001})
                for (const char* kind : kinds) {
                    expect_kept(comm, value, floats, kind, tolerance);
                    expect_kept(comm, value, doubles, kind, tolerance);
                }
        }
}

/// What the tree does to the promise is the same with all codecs, and with shares of the range: one
/// is tried on all trees.
TEST(Tolerance, NoElementIsFurtherOffOnAnyTree) {
    const std::vector<std::string> trees = trees_for(size_of(MPI_COMM_WORLD));
    for (const std::string& tree : trees) expect_every_sum_kept(tree, "bound", {"abs="});
    for (const char* codec : {"bound", "int8", "int8+zstd"})
        expect_every_sum_kept(trees.back(), codec, {"abs=", "range="});
}

TEST(Tolerance, IsKeptWithAnySharesOfIt) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const char* codecs : {"bound/abs=call,bound/abs=8call", "bound/abs=64call,bound",
                                   "int8/abs=3call,bound/abs=2call+zstd"}) {
            SCOPED_TRACE(tree + " " + codecs);
            const OwnComm comm(tree);
            comm.set("gc_tolerance", "abs=0.05");
            comm.set("gc_level_codecs", codecs);
            for (const Value value : {evenly, smooth})
                expect_kept(comm, value, Whole<double>(value, comm.size(), 20'000), "abs=", 0.05);
            EXPECT_EQ(comm.stats().calls_compressed, comm.size() > 1 ? 2U : 0U);
        }
}

TEST(Tolerance, QuantizersAreToldByEachCall) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_tolerance", "abs=0.05");
    ASSERT_EQ(GC_Comm_set_codec(comm, "int8"), MPI_SUCCESS);
    expect_kept(comm, evenly, Whole<float>(evenly, comm.size(), 100003), "abs=", 0.05);
    const GC_Stats stats = comm.stats();
    EXPECT_EQ(stats.calls_compressed, 1U);
    EXPECT_GT(stats.bytes_sent_exact, 2 * stats.bytes_sent);  // shares get small with many ranks
    EXPECT_NE(explained_sum(comm, 5000, MPI_FLOAT).find("int8/abs=call"), std::string::npos);
}

TEST(Tolerance, SendsFewerBytesTheMoreItAllows) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_tolerance", "abs=1");
    ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    const Whole<float> whole(evenly, comm.size(), 100003);
    double last_ratio = 1;
    for (const double tolerance : {0.001, 0.05, 2.0}) {
        const GC_Stats before = comm.stats();
        expect_kept(comm, evenly, whole, "abs=", tolerance);
        const GC_Stats after = comm.stats();
        EXPECT_EQ(after.calls_compressed, before.calls_compressed + 1);
        const double ratio = static_cast<double>(after.bytes_sent_exact - before.bytes_sent_exact) /
                             static_cast<double>(after.bytes_sent - before.bytes_sent);
        EXPECT_GT(ratio, last_ratio * 1.2) << tolerance;
        last_ratio = ratio;
    }
}

/// One block of a sum, which is in `whole`.
template <class T>
void expect_block_kept(const OwnComm& comm, Value value, const Whole<T>& whole, bool in_place,
                       double tolerance) {
    const auto count = static_cast<int>(whole.sums.size()) / comm.size();
    std::vector<T> values = values_of<T>(value, comm.rank(), whole.sums.size());
    std::vector<T> block(static_cast<std::size_t>(count));
    ASSERT_EQ(GC_Reduce_scatter_block(in_place ? MPI_IN_PLACE : values.data(),
                                      in_place ? values.data() : block.data(), count, datatype<T>(),
                                      MPI_SUM, comm),
              MPI_SUCCESS);
    const T* const got = in_place ? values.data() : block.data();
    const std::size_t first = static_cast<std::size_t>(comm.rank() * count);
    for (std::size_t i = 0; i < block.size(); ++i)
        ASSERT_LE(std::abs(static_cast<long double>(got[i]) - whole.sums[first + i]), tolerance)
            << "element " << i << " of block " << comm.rank();
}

TEST(Tolerance, NoElementOfAReduceScatterIsFurtherOffOnAnyTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        comm.set("gc_tolerance", "abs=1");
        ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
        std::uint64_t calls = 0;
        for (const double tolerance : {0.5, 0.01, 0.0005})
            for (const Value value : {evenly, smooth})
                for (const std::size_t block : {1, 700, 5000}) {
                    comm.set("gc_tolerance", ("abs=" + std::to_string(tolerance)).c_str());
                    const std::size_t count = block * static_cast<std::size_t>(comm.size());
                    const bool in_place = calls++ % 2 == 0;
                    expect_block_kept(comm, value, Whole<float>(value, comm.size(), count),
                                      in_place, tolerance);
                    expect_block_kept(comm, value, Whole<double>(value, comm.size(), count),
                                      in_place, tolerance);
                }
        if (comm.size() > 1) {
            EXPECT_GE(comm.stats().calls_compressed, 2 * calls - 8);
            EXPECT_LT(comm.stats().bytes_sent, comm.stats().bytes_sent_exact);
        }
    }
}

TEST(Tolerance, ThatLeavesAReduceScatterTooLittleMakesItExact) {
    for (const char* least : {"0", "1G"}) {  // on the tree, and by the MPI library
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        comm.set("gc_tolerance", "abs=1e-9");
        comm.set("gc_tree_min_bytes", least);
        ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
        const std::size_t count = 3000 * static_cast<std::size_t>(comm.size());
        const Whole<float> whole(evenly, comm.size(), count);
        expect_block_kept(comm, evenly, whole, false, static_cast<double>(whole.additions_lose()));
        EXPECT_EQ(comm.stats().calls_compressed, 0U);
        EXPECT_EQ(comm.stats().calls_passed, comm.size() > 1 && *least == '1' ? 1U : 0U);
    }
}

/// Packing loses nothing, so what is left for encodings is the same.
TEST(Tolerance, IsKeptByPackedMessagesToTheBit) {
    std::vector<std::vector<float>> sums;
    for (const char* codec : {"bound", "bound+zstd"}) {
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        comm.set("gc_tolerance", "abs=0.01");
        ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        const Whole<float> whole(smooth, comm.size(), 50'000);
        expect_kept(comm, smooth, whole, "abs=", 0.01);
        sums.push_back(values_of<float>(smooth, comm.rank(), 50'000));
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, sums.back().data(), 50'000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
    }
    EXPECT_EQ(sums[0], sums[1]);
}

TEST(Tolerance, ThatLeavesCodecsTooLittleMakesTheCallExact) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    comm.set("gc_tolerance", "abs=1e-9");
    ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    std::vector<float> values = floats<float>(comm.rank(), 5000), exact(values.size());
    MPI_Allreduce(values.data(), exact.data(), 5000, MPI_FLOAT, MPI_SUM, comm);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], exact[i], 1e-5);
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
    expect_kept(comm, evenly, Whole<double>(evenly, comm.size(), 5000), "abs=", 0.00001);
    EXPECT_EQ(comm.stats().calls_compressed, comm.size() > 1 ? 1U : 0U) << "fp64 has more bits";
}

TEST(Tolerance, NanAndInfinityComeThrough) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        const OwnComm comm(tree);
        comm.set("gc_tolerance", "abs=0.01");
        ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
        std::vector<float> values = floats<float>(comm.rank(), 5000);
        if (comm.rank() == comm.size() - 1) {
            values[7] = std::nanf("");
            values[600] = std::numeric_limits<float>::infinity();
            values[4999] = -std::numeric_limits<float>::infinity();
        }
        const Whole<float> whole(evenly, comm.size(), 5000);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_on_all_ranks(values, comm));
        EXPECT_TRUE(std::isnan(values[7]));
        EXPECT_EQ(values[600], std::numeric_limits<float>::infinity());
        EXPECT_EQ(values[4999], -std::numeric_limits<float>::infinity());
        for (std::size_t i = 8; i < 600; ++i) ASSERT_NEAR(values[i], double(whole.sums[i]), 0.01);
    }
}

TEST(Tolerance, AllgathersAreExact) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    comm.set("gc_tolerance", "abs=0.5");
    ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    std::vector<double> mine = floats<double>(comm.rank(), 2000);
    std::vector<double> all(mine.size() * static_cast<std::size_t>(comm.size()));
    ASSERT_EQ(GC_Allgather(mine.data(), 2000, MPI_DOUBLE, all.data(), 2000, MPI_DOUBLE, comm),
              MPI_SUCCESS);
    for (int rank = 0; rank < comm.size(); ++rank)
        EXPECT_EQ(std::vector<double>(all.begin() + rank * 2000, all.begin() + (rank + 1) * 2000),
                  floats<double>(rank, 2000));
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
}

TEST(Tolerance, OfOneHopIsACodecsParameter) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    ASSERT_EQ(GC_Comm_set_codec(comm, "bound/abs=0.01"), MPI_SUCCESS);
    const Whole<float> whole(evenly, comm.size(), 5000);
    std::vector<float> values = floats<float>(comm.rank(), 5000);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], double(whole.sums[i]), 0.01 * (comm.size() + 1));
    if (comm.size() > 1) {
        EXPECT_EQ(comm.stats().calls_compressed, 1U);
        EXPECT_NE(explained_sum(comm, 5000, MPI_FLOAT).find("bound/abs=0.01"), std::string::npos);
    }
}

TEST(Tolerance, CodecsThatCannotKeepItAreRefused) {
    const PlainComm comm;
    EXPECT_NE(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    ASSERT_EQ(GC_Comm_set_option(comm, "gc_tolerance", "abs=0.01"), MPI_SUCCESS);
    EXPECT_NE(GC_Comm_set_codec(comm, "2:4"), MPI_SUCCESS);
    EXPECT_NE(GC_Comm_set_codec(comm, "bound/abs=0.1"), MPI_SUCCESS);
    EXPECT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    EXPECT_NE(GC_Comm_set_option(comm, "gc_tolerance", "per-hop"), MPI_SUCCESS)
        << "bound needs one";
}

}  // namespace
}  // namespace gradcoll::test
