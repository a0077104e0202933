// Calls like earlier ones of their communicator, which take the short way in: what changes between
// them takes effect at once, and they are counted like all others.
#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr int most_elems = 20000;

/// SumTest sums small integers, so that every order of additions gives the same.
class SumTest : public testing::Test {
  protected:
    void sum(MPI_Comm comm, int count, bool in_place = false) {
        const int ranks = size_of(comm);
        std::vector<float> in(most_elems), out(most_elems, -1.0F);
        for (int i = 0; i < count; ++i) in[i] = static_cast<float>(i % 7 + rank_of(comm));
        if (in_place) out = in;
        ASSERT_EQ(GC_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), count, MPI_FLOAT,
                               MPI_SUM, comm),
                  MPI_SUCCESS);
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(out[i], static_cast<float>(ranks * (i % 7) + ranks * (ranks - 1) / 2)) << i;
    }
};

TEST_F(SumTest, OfAnySizeInTurns) {
    const PlainComm one_host;
    const OwnComm tree("flat");
    for (int round = 0; round < 3; ++round)
        for (const int count : {1, 20000, 3, 0, 700, 1025})
            for (const bool in_place : {false, true}) {
                sum(one_host, count, in_place);
                sum(tree, count, in_place);
            }
}

TEST_F(SumTest, ShortVectorsPassAndLongOnesDoNot) {
    const OwnComm comm("flat");
    comm.set("gc_tree_min_bytes", "4K");
    for (int round = 0; round < 5; ++round) {
        sum(comm, 2000);
        sum(comm, 20);
    }
    if (comm.size() == 1) return;
    EXPECT_EQ(comm.stats().calls_tree, 5U);
    EXPECT_EQ(comm.stats().calls_passed, 5U);
}

/// The codec 2:4 drops none of the values, so results are those of the exact codec.
TEST_F(SumTest, LongVectorsAreCompressedAndShortOnesAreNot) {
    const OwnComm comm("flat");
    comm.set("gc_codec", "2:4");
    comm.set("gc_compress_bytes", "4K");
    std::vector<float> in(most_elems), out(most_elems);
    for (int i = 0; i < most_elems; i += 2) in[i] = 1.0F;
    for (int round = 0; round < 5; ++round)
        for (const int count : {20, 2000})
            ASSERT_EQ(GC_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
    EXPECT_EQ(out[1998], static_cast<float>(comm.size()));
    if (comm.size() == 1) return;
    EXPECT_EQ(comm.stats().calls_tree, 10U);
    EXPECT_EQ(comm.stats().calls_compressed, 5U);
}

TEST_F(SumTest, SettingsThatChangeTakeEffectAtTheNextCall) {
    const OwnComm comm("flat");
    sum(comm, 1000);
    sum(comm, 1000);
    comm.set("gc_codec", "bf16");
    sum(comm, 1000);
    comm.set("gc_codec", "exact");
    sum(comm, 1000);
    comm.set("gc_tree_min_bytes", "1M");
    sum(comm, 1000);
    if (comm.size() == 1) return;
    EXPECT_EQ(comm.stats().calls_tree, 4U);
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    EXPECT_EQ(comm.stats().calls_passed, 1U);
}

TEST_F(SumTest, ANewCommunicatorHasNothingOfOneWithItsHandle) {
    for (int round = 0; round < 10; ++round) {
        const OwnComm comm("flat");
        if (round % 2 == 0) comm.set("gc_tree_min_bytes", "1M");
        for (int call = 0; call < 3; ++call) sum(comm, 100);
        if (comm.size() == 1) continue;
        EXPECT_EQ(comm.stats().calls_tree, round % 2 == 0 ? 0U : 3U) << round;
    }
}

TEST_F(SumTest, OfManyCommunicatorsInTurns) {
    const OwnComm comms[20];
    for (const OwnComm& comm : comms) comm.set("gc_tree_min_bytes", "0");
    for (int round = 0; round < 4; ++round)
        for (const OwnComm& comm : comms) sum(comm, 100);
    if (comms[0].size() == 1) return;
    for (const OwnComm& comm : comms) EXPECT_EQ(comm.stats().calls_tree, 4U);
}

TEST_F(SumTest, EveryCallIsCounted) {
    const OwnComm comm("flat");
    constexpr int calls = 500;
    for (int call = 0; call < calls; ++call) sum(comm, 256);
    const GC_Stats stats = comm.stats();
    EXPECT_EQ(stats.calls_tree, static_cast<unsigned long long>(calls));
    EXPECT_EQ(stats.bytes_reduced, 1024ULL * calls);
    EXPECT_GT(stats.seconds_total, 0.0);
}

TEST_F(SumTest, BadArgumentsAreFoundAfterGoodOnes) {
    const OwnComm comm("flat");
    float values[8] = {};
    float result[8] = {};
    const auto code = [&](const void* send, void* receive, int count) {
        return GC_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
    };
    ASSERT_EQ(code(values, result, 8), MPI_SUCCESS);
    EXPECT_EQ(class_of(code(nullptr, result, 8)), MPI_ERR_BUFFER);
    EXPECT_EQ(class_of(code(values, nullptr, 8)), MPI_ERR_BUFFER);
    EXPECT_EQ(class_of(code(values, MPI_IN_PLACE, 8)), MPI_ERR_BUFFER);
    EXPECT_EQ(class_of(code(values, values, 8)), MPI_ERR_BUFFER);
    EXPECT_EQ(class_of(code(values + 1, values, 4)), MPI_ERR_BUFFER);
    EXPECT_EQ(class_of(code(values, result, -1)), MPI_ERR_COUNT);
    EXPECT_EQ(code(values, values + 4, 4), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
