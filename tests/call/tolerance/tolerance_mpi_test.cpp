// gc_tolerance: no element of any sum is further off than promised, on any rank; or an error says
// that it cannot be kept.
#include "call/tolerance/tolerance_support.hpp"

namespace gradcoll::test {
namespace {

std::string text_of_error(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    GC_Error_string(code, text, nullptr);
    return text;
}

template <class T>
void expect_kept(const OwnComm& comm, Value value, const Whole<T>& whole, const std::string& kind,
                 double tolerance) {
    comm.set("gc_tolerance", (kind + std::to_string(tolerance)).c_str());
    const std::size_t count = whole.sums.size();
    std::vector<T> values = values_of<T>(value, comm.rank(), count);
    const int code = GC_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count),
                                  datatype<T>(), MPI_SUM, comm);
    EXPECT_TRUE(same_on_all_ranks(values, comm));
    const long double said = std::stold(std::to_string(tolerance));
    long double promised = kind == "abs=" ? said : whole.range * said;
    if (code != MPI_SUCCESS) {  // allowed only where it must be, and then nothing else is lost
        EXPECT_GT(whole.at_best() * 1.001L, promised) << kind << tolerance;
        promised = whole.at_best() * 1.001L;
    }
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

/// The tree does the same to the promise with all codecs, and with shares of the range: one codec
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
            comm.set("gc_codec", codecs);
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

TEST(Tolerance, HardNumbersAreKeptOrRefused) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const Value value : hard)
            for (const std::size_t count : {1U, 7000U})
                for (const double tolerance : {1.0, 0.01, 0.001})
                    for (const char* kind : {"abs=", "range="}) {
                        expect_kept(comm, value, Whole<float>(value, comm.size(), count), kind,
                                    tolerance);
                        expect_kept(comm, value, Whole<double>(value, comm.size(), count), kind,
                                    tolerance);
                    }
    }
}

/// The memory of one host, which takes exact sums, keeps it, too; and so do short vectors that go
/// to the MPI library.
TEST(Tolerance, IsKeptWhereverExactSumsGo) {
    for (const bool by_mpi : {false, true}) {
        const PlainComm comm;
        if (by_mpi) {
            ASSERT_EQ(GC_Comm_set_option(comm, "gc_topology", "flat"), MPI_SUCCESS);
            ASSERT_EQ(GC_Comm_set_option(comm, "gc_tree_min_bytes", "1G"), MPI_SUCCESS);
            ASSERT_EQ(GC_Comm_set_codec(comm, "exact"), MPI_SUCCESS);
        }
        ASSERT_EQ(GC_Comm_set_option(comm, "gc_tolerance", "abs=0.001"), MPI_SUCCESS);
        for (const std::size_t count : {1U, 50U, 30'000U}) {
            const Whole<float> whole(cancelling, comm.size(), count);
            const long double at_best = whole.at_best();
            for (int repeated = 0; repeated < 3; ++repeated) {
                std::vector<float> values = values_of<float>(cancelling, comm.rank(), count);
                const int code = GC_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count),
                                              MPI_FLOAT, MPI_SUM, comm);
                EXPECT_EQ(code == MPI_SUCCESS, at_best <= 0.001L);
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_LE(std::abs(values[i] - whole.sums[i]),
                              std::max(0.001L, at_best * 1.001L));
            }
        }
    }
}

/// Half of the ranks add what the other half takes away: no partial sum may leave the type.
TEST(Tolerance, SumsOnTheWayDoNotOverflow) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    comm.set("gc_tolerance", "abs=1e30");
    const bool adds = comm.rank() < comm.size() / 2;
    const bool takes = comm.rank() >= (comm.size() + 1) / 2;
    std::vector<float> values(5000, adds ? 2e38F : takes ? -2e38F : 1e37F);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (const float value : values) ASSERT_NEAR(value, comm.size() % 2 == 0 ? 0 : 1e37, 1e30);
}

/// What encodings may lose pushes no sum over the end of its type.
TEST(Tolerance, FiniteSumsStayFinite) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    comm.set("gc_tolerance", "abs=4e36");
    const double each = 3.386e38 / comm.size();
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(each * (i % 2 == 0 ? 1 : 0.3));
    const double sums[] = {static_cast<double>(values[0]) * comm.size(),
                           static_cast<double>(values[1]) * comm.size()};
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_TRUE(std::isfinite(values[i])) << i;
        ASSERT_NEAR(values[i], sums[i % 2], 4e36);
    }
}

/// One value far out does not switch the codec off for all others.
TEST(Tolerance, OneValueFarOutLeavesTheRestCompressed) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_compress_if", "always");
    std::vector<float> values = values_of<float>(evenly, comm.rank(), 100'000);
    if (comm.rank() == 0) values[77] = 100'000;
    const Whole<float> whole(evenly, comm.size(), values.size());
    comm.set("gc_tolerance", "abs=0.01");
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 100'000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_TRUE(i == 77 || std::abs(values[i] - whole.sums[i]) <= 0.01L) << i;
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    EXPECT_GT(comm.stats().bytes_sent_exact, 2 * comm.stats().bytes_sent);
}

/// The smallest numbers are rounded like all others: to within the tolerance (compress/bound).
TEST(Tolerance, SubnormalsAreKeptToTheTolerance) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    comm.set("gc_tolerance", "abs=1e-30");
    std::vector<float> values(1000, 1e-40F);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, comm),
              MPI_SUCCESS);
    for (const float value : values) ASSERT_LE(std::abs(value - 1e-40 * comm.size()), 1e-30);
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

/// Expects that one block of a sum, which is in `whole`, is kept.
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
            const std::uint64_t too_short = calls / 3;  // blocks of one element go exactly
            EXPECT_EQ(comm.stats().calls_compressed, 2 * (calls - too_short));
            EXPECT_LT(comm.stats().bytes_sent, comm.stats().bytes_sent_exact);
        }
    }
}

/// All blocks are as near as their type allows, and every rank gets the error.
TEST(Tolerance, ThatAReduceScatterCannotKeepIsAnError) {
    for (const char* least : {"0", "1G"}) {  // on the tree, and by the MPI library
        const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
        if (comm.size() == 1) GTEST_SKIP() << "nothing is added";
        comm.set("gc_tolerance", "abs=1e-9");
        comm.set("gc_tree_min_bytes", least);
        ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
        const std::size_t block = 3000, count = block * static_cast<std::size_t>(comm.size());
        const std::vector<float> values = values_of<float>(evenly, comm.rank(), count);
        const Whole<float> whole(evenly, comm.size(), count);
        std::vector<float> got(block);
        const int code =
            GC_Reduce_scatter_block(values.data(), got.data(), 3000, MPI_FLOAT, MPI_SUM, comm);
        EXPECT_NE(code, MPI_SUCCESS);
        EXPECT_NE(text_of_error(code).find("abs=1e-09 cannot be kept"), std::string::npos)
            << text_of_error(code);
        const std::size_t first = block * static_cast<std::size_t>(comm.rank());
        for (std::size_t i = 0; i < block; ++i)
            ASSERT_EQ(got[i], static_cast<float>(whole.sums[first + i]));
        EXPECT_EQ(comm.stats().calls_compressed, 0U);
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

/// The error says what could be promised, and with that promise the same call is kept.
TEST(Tolerance, ThatCannotBeKeptIsAnErrorThatSaysWhatCan) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is added";
    comm.set("gc_tolerance", "abs=1e-9");
    ASSERT_EQ(GC_Comm_set_codec(comm, "bound"), MPI_SUCCESS);
    const std::vector<float> values = floats<float>(comm.rank(), 5000);
    std::vector<float> sums(values.size());
    const auto add = [&] {
        return GC_Allreduce(values.data(), sums.data(), 5000, MPI_FLOAT, MPI_SUM, comm);
    };
    const int code = add();
    ASSERT_NE(code, MPI_SUCCESS);
    const Whole<float> whole(evenly, comm.size(), 5000);
    for (std::size_t i = 0; i < sums.size(); ++i)
        ASSERT_EQ(sums[i], static_cast<float>(whole.sums[i]));
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
    const std::string text = text_of_error(code);
    const std::size_t allowed = text.find("allowed for them: ");
    ASSERT_NE(allowed, std::string::npos) << text;
    const std::size_t from = allowed + std::string("allowed for them: ").size();
    comm.set("gc_tolerance", text.substr(from, text.find(' ', from) - from).c_str());
    EXPECT_EQ(add(), MPI_SUCCESS) << text;
    const std::uint64_t compressed = comm.stats().calls_compressed;
    expect_kept(comm, evenly, Whole<double>(evenly, comm.size(), 5000), "abs=", 0.00001);
    EXPECT_EQ(comm.stats().calls_compressed, compressed + 1) << "fp64 has more bits";
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
