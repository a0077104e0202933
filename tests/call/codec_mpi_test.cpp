// Lossy codecs: the same bits on every rank, fewer bytes on the wire, and only where they are
// allowed.
#include <map>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

/// Returns all codecs but exact, and some with parameters.
std::vector<std::string> lossy_codecs() {
    int size = 0;
    EXPECT_EQ(GC_Get_list_size(GC_LIST_CODECS, &size), MPI_SUCCESS);
    std::vector<std::string> names;
    for (int i = 1; i < size; ++i) {
        GC_List_entry entry;
        EXPECT_EQ(GC_Get_list_entry(GC_LIST_CODECS, i, &entry), MPI_SUCCESS);
        const std::string name = entry.name;
        const bool needs_bound = name == "bound" || name == "int";
        names.push_back(needs_bound ? name + "/abs=1e-3" : name);
    }
    for (const char* told : {"int8/abs=1e-3", "int16/abs=1e-6", "int4/rel=0.01", "int8/seed=7"})
        names.emplace_back(told);
    return names;
}

template <class T>
void sum_with_codec(const OwnComm& comm, const std::string& codec, MPI_Datatype type,
                    std::size_t count) {
    ASSERT_EQ(GC_Comm_set_codec(comm, codec.c_str()), MPI_SUCCESS);
    std::vector<T> values = floats<T>(comm.rank(), count);
    ASSERT_EQ(
        GC_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), type, MPI_SUM, comm),
        MPI_SUCCESS);
    EXPECT_TRUE(same_on_all_ranks(values, comm)) << codec << ", " << count << " elements";
    // A value may come back half a step too large at each hop, and int4 has but 15 steps.
    const double reach = codec.find("int4") != std::string::npos ? 1.3 : 1.01;
    for (const T value : values) ASSERT_LE(std::abs(value), comm.size() * reach);
}

TEST(Codec, EveryRankEndsWithTheSameBitsOnEveryTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        for (const std::string& codec : lossy_codecs())
            for (const std::size_t count : {1, 511, 5000}) {
                sum_with_codec<float>(comm, codec, MPI_FLOAT, count);
                sum_with_codec<double>(comm, codec, MPI_DOUBLE, count);
            }
        sum_with_codec<float>(comm, "2:4", MPI_FLOAT, 300007);
    }
}

TEST(Codec, PackedMessagesGiveTheBitsOfPlainOnesInFewerBytes) {
    const int n = size_of(MPI_COMM_WORLD);
    std::vector<std::string> trees = trees_for(n);
    if (n >= 3) trees.push_back("switch(host(0 1) " + ranks_from(2, n) + ")");
    for (const std::string& tree : trees)
        for (const char* codec : {"int8", "2:4+int8", "bound/abs=1e-3", "int8/abs=1e-3"}) {
            std::vector<float> plain(50'000);
            for (std::size_t i = 0; i < plain.size(); i += 7)
                plain[i] = static_cast<float>(value_at(rank_of(MPI_COMM_WORLD), i));
            const std::vector<float> input = plain;
            unsigned long long plain_bytes = 0;
            for (const char* packing : {"", "+zstd", "+lz4"}) {
                SCOPED_TRACE(tree + ": " + codec + packing);
                const OwnComm comm(tree);
                ASSERT_EQ(GC_Comm_set_codec(comm, (std::string(codec) + packing).c_str()),
                          MPI_SUCCESS);
                std::vector<float> values = input;
                ASSERT_EQ(
                    GC_Allreduce(MPI_IN_PLACE, values.data(), 50'000, MPI_FLOAT, MPI_SUM, comm),
                    MPI_SUCCESS);
                EXPECT_TRUE(same_on_all_ranks(values, comm));
                if (*packing == 0) plain = values, plain_bytes = comm.stats().bytes_sent;
                EXPECT_EQ(values, plain);
                EXPECT_LE(comm.stats().bytes_sent, plain_bytes);
            }
        }
}

/// Ranks 0 and 1 are a host: between them nothing is packed, and what they send to others is.
TEST(Codec, PackingIsForMessagesBetweenHosts) {
    const int n = size_of(MPI_COMM_WORLD);
    if (n < 3) GTEST_SKIP() << "no host of two beside another";
    const auto sent = [&](const std::string& tree, const char* codec) {
        const OwnComm comm(tree);
        EXPECT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
        std::vector<float> values(50'000);
        values[comm.rank()] = 1;
        EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 50'000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        return comm.stats().bytes_sent;
    };
    const std::string one_host = "host(" + ranks_from(0, n) + ")";
    EXPECT_EQ(sent(one_host, "int8+zstd"), sent(one_host, "int8"));
    const std::string hosts = "switch(host(0 1) " + ranks_from(2, n) + ")";
    const unsigned long long packed = sent(hosts, "int8+zstd"), plain = sent(hosts, "int8");
    EXPECT_LT(packed, plain);
    // All that the other ranks send leaves their hosts.
    EXPECT_TRUE(rank_of(MPI_COMM_WORLD) < 2 || packed < plain / 10) << packed << " of " << plain;
}

/// An element is encoded at most 2 n times, and no encoding loses more than it was told.
TEST(Codec, QuantizedSumsWithATolerancesAreWithinThem) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const char* codec : {"int8/abs=0.001", "int4/abs=0.001", "int16/abs=0.001"}) {
            const OwnComm comm(tree);
            ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
            std::vector<float> values = floats<float>(comm.rank(), 20000), exact(values.size());
            values[77] = static_cast<float>(1000 + comm.rank());  // ruins no block
            MPI_Allreduce(values.data(), exact.data(), 20000, MPI_FLOAT, MPI_SUM, comm);
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_TRUE(same_on_all_ranks(values, comm)) << codec << " on " << tree;
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(values[i], exact[i], 2 * comm.size() * 0.001 + 1e-3)
                    << codec << " on " << tree << ", " << i;
        }
}

TEST(Codec, TwoOfFourSendsAboutHalfAndTheStatisticsShowIt) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    sum_with_codec<float>(comm, "2:4", MPI_FLOAT, 400000);
    const GC_Stats stats = comm.stats();
    EXPECT_EQ(stats.calls_compressed, 1U);
    const double ratio =
        static_cast<double>(stats.bytes_sent_exact) / static_cast<double>(stats.bytes_sent);
    EXPECT_NEAR(ratio, 128.0 / 68.0, 0.02);
}

/// An element is encoded at most 2 n times, and each is off by at most half a step. A step is the
/// range of a block over all codes; no sum is beyond -n to n.
TEST(Codec, QuantizedSumsAreWithinTheirSteps) {
    const std::pair<const char*, double> steps[] = {{"int16", 65535}, {"int8", 255}, {"int4", 15}};
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const auto& [codec, steps_of_range] : steps) {
            const OwnComm comm(tree);
            ASSERT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
            std::vector<float> values = floats<float>(comm.rank(), 20000), exact(values.size());
            MPI_Allreduce(values.data(), exact.data(), 20000, MPI_FLOAT, MPI_SUM, comm);
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_TRUE(same_on_all_ranks(values, comm)) << codec << " on " << tree;
            const double n = comm.size(), bound = 2 * n * (2 * n / steps_of_range) / 2 + 1e-5 * n;
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(values[i], exact[i], bound) << codec << " on " << tree << ", " << i;
        }
}

/// A vector with at most two nonzeros in any four values survives every hop, so its sum is exact.
TEST(Codec, SparseEnoughVectorsAreExact) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        const OwnComm comm(tree);
        ASSERT_EQ(GC_Comm_set_codec(comm, "2:4"), MPI_SUCCESS);
        std::vector<float> values(10000);
        for (std::size_t i = 0; i < values.size(); i += 2)
            values[i] = static_cast<float>(comm.rank() + 1);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 10000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        const float sum = static_cast<float>(comm.size() * (comm.size() + 1)) / 2;
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(values[i], i % 2 == 0 ? sum : 0.0F) << tree << i;
    }
}

TEST(Codec, IntegersOtherOpsAndShortVectorsStayExact) {
    const OwnComm comm("flat");
    ASSERT_EQ(GC_Comm_set_codec(comm, "1:4"), MPI_SUCCESS);
    std::vector<int> ints(2000, 3);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, ints.data(), 2000, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(ints, std::vector<int>(2000, 3 * comm.size()));

    std::vector<float> values = floats<float>(comm.rank(), 2000), expected(2000);
    MPI_Allreduce(values.data(), expected.data(), 2000, MPI_FLOAT, MPI_MAX, comm);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 2000, MPI_FLOAT, MPI_MAX, comm),
              MPI_SUCCESS);
    EXPECT_EQ(values, expected);

    comm.set("gc_compress_bytes", "1M");
    std::vector<double> doubles(2000, 0.5);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, doubles.data(), 2000, MPI_DOUBLE, MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_EQ(doubles, std::vector<double>(2000, 0.5 * comm.size()));
    EXPECT_EQ(comm.stats().calls_compressed, 0U);
}

/// Expects the codecs of the two levels of the tree, and that of the way down.
void expect_codecs(const OwnComm& comm, const std::string& levels, const std::string& down) {
    const std::string text = explained_sum(comm, 8000, MPI_FLOAT);
    const std::vector<std::string> told = levels_in(text);
    ASSERT_EQ(told.size(), 2U) << text;
    const std::size_t comma = levels.find(',');
    const std::string wished[] = {levels.substr(0, comma), levels.substr(comma + 1)};
    for (std::size_t level = 0; level < 2; ++level)
        EXPECT_TRUE(told[level].ends_with(", " + wished[level])) << levels << ": " << told[level];
    const std::string& highest_lossy = wished[wished[1] == "exact" ? 0 : 1];
    const std::string& going_down = down == "same" ? highest_lossy : down;
    EXPECT_NE(text.find("on the way down: " + going_down + "\n"), std::string::npos) << text;
}

TEST(Codec, LevelsMayHaveTheirOwn) {
    const int n = size_of(MPI_COMM_WORLD);
    if (n < 3) GTEST_SKIP() << "one level only";
    for (const char* levels : {"exact,2:4", "2:4,exact", "bf16,1:4", "int8,int4"})
        for (const char* down : {"same", "exact", "bf16"}) {
            const OwnComm comm("((0 1) (" + ranks_from(2, n) + "))");
            comm.set("gc_codec", levels);
            comm.set("gc_codec", (std::string("down=") + down).c_str());
            expect_codecs(comm, levels, down);
            std::vector<float> values = floats<float>(comm.rank(), 8000);
            ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 8000, MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_TRUE(same_on_all_ranks(values, comm)) << levels << " down " << down;
            EXPECT_EQ(comm.stats().calls_compressed, 1U);
        }
}

/// Ranks 0 to 3 are one host with two NUMA nodes. With between=2:4 only what leaves a host is
/// compressed.
TEST(Codec, BetweenHostsOnlySendsMoreThanByLevelAndLessThanExactly) {
    const int n = size_of(MPI_COMM_WORLD);
    if (n < 5) GTEST_SKIP() << "no lopsided tree of so few ranks has a host with levels";
    std::vector<unsigned long long> sent;
    for (const char* levels : {"exact,2:4", "between=2:4", "between=exact"}) {
        const OwnComm comm("switch(host(numa(0 1) numa(2 3)) " + ranks_from(4, n) + ")");
        comm.set("gc_exchange", "direct");
        comm.set("gc_codec", levels);
        std::vector<float> values = floats<float>(comm.rank(), 80000);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 80000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_on_all_ranks(values, comm)) << levels;
        const GC_Stats stats = comm.stats();
        EXPECT_EQ(stats.calls_compressed, std::string(levels) == "between=exact" ? 0U : 1U)
            << levels;
        sent.push_back(stats.bytes_sent);
    }
    EXPECT_LT(sent[1], sent[2]);
    if (rank_of(MPI_COMM_WORLD) < 4) {
        EXPECT_LT(sent[0], sent[1]);
    }
}

TEST(Codec, AScheduleOnTheCommunicatorFollowsGcStep) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    ASSERT_EQ(GC_Comm_set_schedule(comm, "0:exact,10:2:4,20:1:4"), MPI_SUCCESS);
    std::vector<unsigned long long> sent;
    for (const long long step : {0, 9, 10, 25}) {
        ASSERT_EQ(GC_Step(comm, step), MPI_SUCCESS);
        GC_Comm_reset_stats(comm);
        std::vector<float> values = floats<float>(comm.rank(), 20000);
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        sent.push_back(comm.stats().bytes_sent);
    }
    EXPECT_EQ(sent[0], sent[1]);
    EXPECT_LT(sent[2], sent[1]);
    EXPECT_LT(sent[3], sent[2]);
}

std::vector<unsigned long long> bytes_of_calls(const OwnComm& comm, int calls) {
    std::vector<unsigned long long> sent;
    for (int i = 0; i < calls; ++i) {
        GC_Comm_reset_stats(comm);
        std::vector<float> values = floats<float>(comm.rank(), 20000);
        EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(same_on_all_ranks(values, comm));
        sent.push_back(comm.stats().bytes_sent);
    }
    return sent;
}

/// Other calls do not count: those on integers, and those that gc_compress_bytes leaves exact.
TEST(Codec, CallsThatTheScheduleMayCompressAdvanceItsStepIfTold) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    comm.set("gc_compress_bytes", "64K");
    ASSERT_EQ(GC_Comm_set_schedule(comm, "0:exact,1:2:4,2:1:4"), MPI_SUCCESS);
    const auto standing = bytes_of_calls(comm, 3);
    EXPECT_EQ(standing, std::vector(3, standing[0]));
    comm.set("gc_codec", "every=calls:2");
    std::vector<unsigned long long> sent;
    for (int i = 0; i < 6; ++i) {
        std::vector<int> integers(20000, 1);
        GC_Allreduce(MPI_IN_PLACE, integers.data(), 20000, MPI_INT, MPI_SUM, comm);
        std::vector<float> few(100, 1.0F);
        GC_Allreduce(MPI_IN_PLACE, few.data(), 100, MPI_FLOAT, MPI_SUM, comm);
        sent.push_back(bytes_of_calls(comm, 1)[0]);
    }
    EXPECT_EQ(sent[0], standing[0]);
    EXPECT_EQ(sent[1], sent[0]);
    EXPECT_LT(sent[2], sent[1]);
    EXPECT_EQ(sent[3], sent[2]);
    EXPECT_LT(sent[4], sent[3]);
    EXPECT_EQ(sent[5], sent[4]);
    ASSERT_EQ(GC_Step(comm, 1), MPI_SUCCESS);
    EXPECT_EQ(bytes_of_calls(comm, 3), (std::vector{sent[2], sent[2], sent[4]}))
        << "counting goes on from the step that was set";
}

TEST(Codec, NotANumberAndInfinityArriveEverywhere) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    for (const std::string& codec : lossy_codecs()) {
        ASSERT_EQ(GC_Comm_set_codec(comm, codec.c_str()), MPI_SUCCESS);
        std::vector<float> values(3000, 1.0F);
        if (comm.rank() == 0) values[1000] = std::nanf("");
        if (comm.rank() == comm.size() - 1) values[2000] = INFINITY;
        ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 3000, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_TRUE(std::isnan(values[1000])) << codec;
        EXPECT_TRUE(std::isinf(values[2000])) << codec;
    }
}

}  // namespace
}  // namespace gradcoll::test
