// Communicators of unchanged programs are attached at the call that makes it pay, whatever its
// size, if all their ranks are on one host.
#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

constexpr int most_calls = 5000;

/// Sums vectors of rank r that have r + 1 everywhere.
Answer sum_of(const PlainComm& comm, int count) {
    const std::vector<float> in(static_cast<std::size_t>(count),
                                static_cast<float>(comm.rank() + 1));
    std::vector<float> out(in.size(), -1.0F);
    const Answer answer =
        connected().allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, comm);
    const int sum = answer.served ? comm.size() * (comm.size() + 1) / 2 : -1;
    EXPECT_EQ(out, std::vector<float>(in.size(), static_cast<float>(sum)));
    return answer;
}

/// Calls until one is served, and returns how many were not; `most_calls` if none is.
int calls_until_served(const PlainComm& comm, int count) {
    for (int call = 0; call < most_calls; ++call)
        if (sum_of(comm, count).served) return call;
    return most_calls;
}

bool same_on_all_ranks(int value) {
    int range[2] = {value, -value};
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return range[0] == -range[1];
}

bool alone() {
    return size_of(MPI_COMM_WORLD) == 1;
}

TEST(AttachByUse, ShortCallsAreServedOnceThereWereEnough) {
    const PlainComm comm;
    const int calls = calls_until_served(comm, 4);
    EXPECT_TRUE(same_on_all_ranks(calls));
    if (alone()) {
        EXPECT_EQ(calls, most_calls);
        return;
    }
    EXPECT_GT(calls, 10);
    EXPECT_LT(calls, most_calls);
    for (int call = 0; call < 20; ++call) EXPECT_TRUE(sum_of(comm, 4 + call).served);
    EXPECT_EQ(comm.stats().calls_tree, 21U);
}

TEST(AttachByUse, LongerVectorsPaySooner) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const PlainComm short_ones, long_ones;
    EXPECT_GT(calls_until_served(short_ones, 4), 4 * calls_until_served(long_ones, 16384));
}

/// A thread remembers types and ops. How many calls it takes to attach must not depend on that.
TEST(AttachByUse, RanksThatKnowTheTypeAndRanksThatDoNotAgree) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const auto calls_of_shorts = [](MPI_Comm comm, int most) {
        const short in = 1;
        short out = 0;
        int call = 0;
        while (call < most && !connected().allreduce(&in, &out, 1, MPI_SHORT, MPI_BOR, comm).served)
            ++call;
        return call;
    };
    MPI_Comm but_rank_0 = MPI_COMM_NULL;
    const int rank = rank_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &but_rank_0);
    if (but_rank_0 != MPI_COMM_NULL) calls_of_shorts(but_rank_0, 5);
    const PlainComm first, second;
    const int calls = calls_of_shorts(first, most_calls);
    EXPECT_TRUE(same_on_all_ranks(calls));
    EXPECT_LT(calls, most_calls);
    EXPECT_EQ(calls_of_shorts(second, most_calls), calls);
    if (but_rank_0 != MPI_COMM_NULL) MPI_Comm_free(&but_rank_0);
}

TEST(AttachByUse, CallsWhileInterceptionIsOffDoNotCount) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const PlainComm all_counted, interrupted;
    const int calls = calls_until_served(all_counted, 4);
    for (int call = 0; call < 10; ++call) EXPECT_FALSE(sum_of(interrupted, 4).served);
    connected()->pcontrol(0);
    for (int call = 0; call < 2 * calls; ++call) EXPECT_FALSE(sum_of(interrupted, 4).served);
    connected()->pcontrol(1);
    EXPECT_EQ(calls_until_served(interrupted, 4), calls - 10);
}

TEST(AttachByUse, FewCallsAttachNothing) {
    for (int comms = 0; comms < 200; ++comms) {
        const PlainComm comm;
        for (int call = 0; call < 3; ++call) EXPECT_FALSE(sum_of(comm, 16).served);
        EXPECT_FALSE(comm.is_attached());
    }
}

TEST(AttachByUse, ACallThatIsWrongHereAttachesAsItDoesElsewhere) {
    const PlainComm comm;
    float value = 0;
    for (int call = 0; call < most_calls; ++call)
        ASSERT_NE(connected().allreduce(nullptr, &value, 1, MPI_FLOAT, MPI_SUM, comm).code,
                  MPI_SUCCESS)
            << "left to the MPI library, or refused where that would crash";
    EXPECT_EQ(comm.is_attached(), comm.size() > 1);
}

constexpr int long_count = 100000;

/// Returns whether a nonblocking call is served.
bool starts(const PlainComm& comm) {
    const std::vector<float> in(long_count, 1);
    std::vector<float> out(long_count);
    MPI_Request request = MPI_REQUEST_NULL;
    const Answer answer = connected().iallreduce(in.data(), out.data(), long_count, MPI_FLOAT,
                                                 MPI_SUM, comm, &request);
    if (answer.served) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return answer.served;
}

bool has_threads() {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

TEST(AttachByUse, NonblockingCallsAreServedInTheMemoryThatBlockingOnesHaveMade) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const PlainComm comm;
    EXPECT_FALSE(starts(comm)) << "a nonblocking call must not wait for others";
    calls_until_served(comm, 16384);
    for (int call = 0; call < 5; ++call) EXPECT_EQ(starts(comm), has_threads());
    EXPECT_TRUE(sum_of(comm, long_count).served);
}

/// Returns how many calls of 16 bytes it takes now to attach a communicator. This one is then freed
/// at once, so that it never pays.
int calls_in_vain() {
    const PlainComm comm;
    return calls_until_served(comm, 4);
}

/// Attaches a communicator and calls until it has paid for that.
void make_it_pay() {
    const PlainComm comm;
    calls_until_served(comm, 4);
    for (int call = 0; call < 200; ++call) EXPECT_TRUE(sum_of(comm, 16384).served);
}

TEST(AttachByUse, CommunicatorsThatAreFreedTooSoonRaiseThePriceAndOthersLowerIt) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    for (int round = 0; round < 5; ++round) make_it_pay();
    const int at_first = calls_in_vain();
    EXPECT_NEAR(calls_in_vain(), 2 * at_first, 2);
    for (int round = 0; round < 5; ++round) calls_in_vain();
    const int at_most = calls_in_vain();
    EXPECT_NEAR(at_most, 16 * at_first, 20);
    EXPECT_EQ(calls_in_vain(), at_most);
    EXPECT_TRUE(same_on_all_ranks(at_most));
    make_it_pay();
    EXPECT_LT(calls_in_vain(), at_most);
}

TEST(AttachByUse, OnlySoManyAreAttachedAtATime) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    for (int round = 0; round < 5; ++round) make_it_pay();
    constexpr int many = 300;
    std::vector<PlainComm> comms(many);
    int attached = 0;
    for (const PlainComm& comm : comms) {
        for (int call = 0; call < 60 && !comm.is_attached(); ++call) sum_of(comm, 16384);
        attached += comm.is_attached() ? 1 : 0;
    }
    EXPECT_GE(attached, 200);
    EXPECT_LE(attached, 256);
    EXPECT_TRUE(same_on_all_ranks(attached));
    comms.clear();
    const PlainComm comm;
    EXPECT_LT(calls_until_served(comm, 16384), most_calls);
}

/// Ranks have freed different communicators and ask different prices.
TEST(AttachByUse, RanksThatHaveLearntDifferentPricesAttachAtTheSameCall) {
    if (size_of(MPI_COMM_WORLD) < 3) GTEST_SKIP() << "needs three ranks";
    for (int round = 0; round < 5; ++round) make_it_pay();
    MPI_Comm handle = MPI_COMM_NULL;
    const bool is_in = PlainComm().rank() < 2;
    for (int round = 0; round < 5; ++round) {
        MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, 0, &handle);
        if (!is_in) continue;
        float one = 1, sum = 0;
        for (int call = 0; call < most_calls; ++call)
            if (connected().allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, handle).served) break;
        MPI_Comm_free(&handle);
    }
    const int calls = calls_in_vain();
    EXPECT_TRUE(same_on_all_ranks(calls));
    EXPECT_GT(calls, 300);
    EXPECT_LT(calls, most_calls);
}

TEST(AttachByUse, ACallOfTheLibraryAttachesWhateverCameBefore) {
    const PlainComm comm;
    for (int call = 0; call < 5; ++call) EXPECT_FALSE(sum_of(comm, 4).served);
    float one = 1, sum = 0;
    ASSERT_EQ(GC_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(sum, static_cast<float>(comm.size()));
    EXPECT_TRUE(comm.is_attached());
    EXPECT_EQ(comm.stats().calls_passed, 0U);
}

TEST(AttachByUse, TheLibrarysOwnCallsFindAWholeContext) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const PlainComm comm;
    calls_until_served(comm, 16384);
    EXPECT_EQ(GC_Comm_set_codec(comm, "bf16"), MPI_SUCCESS);
    EXPECT_EQ(GC_Comm_set_option(comm, "gc_compress_bytes", "0"), MPI_SUCCESS);
    EXPECT_TRUE(sum_of(comm, 1000).served);
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
}

TEST(AttachByUse, CommunicatorsInTurnsEachCountTheirOwn) {
    if (alone()) GTEST_SKIP() << "needs two ranks";
    const PlainComm first, second;
    int calls = 0;
    while (calls < most_calls && !sum_of(first, 64).served) {
        sum_of(second, 8);
        ++calls;
    }
    EXPECT_TRUE(same_on_all_ranks(calls));
    EXPECT_TRUE(first.is_attached());
    EXPECT_FALSE(second.is_attached());
}

}  // namespace
}  // namespace gradcoll::test
