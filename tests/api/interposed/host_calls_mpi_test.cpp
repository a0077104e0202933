// Barriers, broadcasts, reductions, allgathers and reduce-scatters of unchanged programs through
// the shared memory of one host.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

// The sizes are those of docs/dropin.md.
bool serves_bcast_of(std::size_t size_bytes, int ranks) {
    if (size_bytes == 0) return false;
    return ranks == 2 ? size_bytes <= 8192 : size_bytes >= 512 && size_bytes <= 65536;
}
bool serves_reduce_of(std::size_t size_bytes, int ranks) {
    return ranks == 2 || (size_bytes >= 128 && size_bytes <= 16384);
}

constexpr int most_calls = 5000;

bool alone() {
    return size_of(MPI_COMM_WORLD) == 1;
}

template <class Call>
int calls_until_served(Call&& call) {
    for (int number = 0; number < most_calls; ++number)
        if (call().served) return number;
    return most_calls;
}

/// HostCalls has a communicator whose calls are served.
class HostCalls : public testing::Test {
  protected:
    void SetUp() override {
        if (alone()) GTEST_SKIP() << "needs two ranks";
        ASSERT_LT(calls_until_served([this] { return connected().barrier(comm_); }), most_calls);
    }
    /// Returns the values of a rank r: r * 1000 + i.
    static std::vector<int> values(int rank, std::size_t count) {
        std::vector<int> out(count);
        std::iota(out.begin(), out.end(), rank * 1000);
        return out;
    }
    std::vector<int> sums(std::size_t count) const {
        std::vector<int> out(count, 0);
        for (int rank = 0; rank < comm_.size(); ++rank)
            for (std::size_t i = 0; i < count; ++i) out[i] += rank * 1000 + static_cast<int>(i);
        return out;
    }
    std::string reason() { return comm_.stats().last_pass_reason; }

    PlainComm comm_;
    int rank_ = comm_.rank();
    int ranks_ = comm_.size();
};

TEST(HostCallsByUse, EmptyVectorsAreNotOfferedBecauseMpiDoesNotWaitForThem) {
    if (alone()) return;
    for (const GC_Call_kind call : {GC_CALL_ALLREDUCE, GC_CALL_BCAST, GC_CALL_REDUCE})
        EXPECT_EQ(connected().least(call), 1) << call;
    EXPECT_EQ(connected().least(GC_CALL_BARRIER), 0);
}

TEST(HostCallsByUse, AllKindsOfCallsPayForAttaching) {
    const auto none_is_attached = [](auto&& call) {
        const PlainComm comm;
        const int calls = calls_until_served([&] { return call(comm); });
        EXPECT_EQ(calls == most_calls, alone());
        if (!alone()) {
            EXPECT_GT(calls, 10);
        }
    };
    int data[128] = {}, out[128] = {};
    none_is_attached([](MPI_Comm comm) { return connected().barrier(comm); });
    none_is_attached([&](MPI_Comm comm) { return connected().bcast(data, 128, MPI_INT, 0, comm); });
    none_is_attached([&](MPI_Comm comm) {
        return connected().reduce(data, out, 128, MPI_INT, MPI_SUM, 0, comm);
    });
    none_is_attached([&](MPI_Comm comm) {
        return connected().allgather(data, 1, MPI_INT, out, 1, MPI_INT, comm);
    });
    none_is_attached([&](MPI_Comm comm) {
        return connected().reduce_scatter_block(data, out, 1, MPI_INT, MPI_SUM, comm);
    });
}

TEST_F(HostCalls, BroadcastsComeFromAnyRoot) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{2000}, std::size_t{16384}})
        for (int root = 0; root < ranks_; ++root) {
            std::vector<int> data = values(rank_, count);
            const Answer answer =
                connected().bcast(data.data(), static_cast<int>(count), MPI_INT, root, comm_);
            ASSERT_EQ(answer.served, serves_bcast_of(count * sizeof(int), ranks_));
            EXPECT_EQ(data, values(answer.served ? root : rank_, count));
        }
}

void add_pairs(void*, void*, int*, MPI_Datatype*) {}

TEST_F(HostCalls, ReductionsByAnOpOfTheProgramPassWhateverTheirLength) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(add_pairs, 1, &op);
    std::vector<int> in(1000), out(1000);
    for (const int count : {-1, 0, 1, 250, 1000}) {
        EXPECT_FALSE(
            connected().reduce(in.data(), out.data(), count, MPI_INT, op, 0, comm_).served);
        if (count <= 0) continue;
        EXPECT_NE(reason().find("op is user-defined"), std::string::npos) << count;
    }
    MPI_Op_free(&op);
}

TEST_F(HostCalls, LongBroadcastsAreLeftToMpi) {
    std::vector<int> data(1 << 20);
    EXPECT_FALSE(connected().bcast(data.data(), 1 << 20, MPI_INT, 0, comm_).served);
    EXPECT_NE(reason().find("of this length faster"), std::string::npos);
}

TEST_F(HostCalls, EmptyVectorsPassBecauseMpiDoesNotWaitForThem) {
    int in = 1, out = 2;
    const auto passes = [&](const Answer& answer) {
        EXPECT_FALSE(answer.served);
        EXPECT_EQ(reason(), "vector has no elements");
    };
    for (int repetition = 0; repetition < 2; ++repetition) {
        passes(connected().allreduce(&in, &out, 0, MPI_INT, MPI_SUM, comm_));
        passes(connected().reduce(&in, &out, 0, MPI_INT, MPI_SUM, 0, comm_));
        passes(connected().bcast(&in, 0, MPI_INT, 0, comm_));
        passes(connected().allgather(&in, 0, MPI_INT, &out, 0, MPI_INT, comm_));
        passes(connected().reduce_scatter_block(&in, &out, 0, MPI_INT, MPI_SUM, comm_));
        EXPECT_TRUE(connected().barrier(comm_).served);
        EXPECT_TRUE(connected().allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm_).served);
    }
    EXPECT_EQ(out, ranks_);
}

TEST_F(HostCalls, RanksMayDescribeTheSameDataDifferently) {
    constexpr int half = 500;
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Type_vector(half, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    const std::vector<int> whole = values(3, 2 * half);
    for (int root = 0; root < ranks_; ++root) {
        std::vector<int> data = rank_ == root ? whole : std::vector<int>(2 * half, -1);
        const bool by_column = rank_ % 2 == 0;
        // The root sends its first half in order, or every second element.
        std::vector<int> sent(half);
        for (std::size_t i = 0; i < half; ++i) sent[i] = whole[root % 2 == 0 ? 2 * i : i];
        ASSERT_TRUE(
            connected()
                .bcast(data.data(), by_column ? 1 : half, by_column ? column : MPI_INT, root, comm_)
                .served);
        for (std::size_t i = 0; i < half; ++i) EXPECT_EQ(data[by_column ? 2 * i : i], sent[i]);
        if (rank_ != root && by_column) {
            EXPECT_EQ(data[1], -1);
        }
    }
    MPI_Type_free(&column);
}

TEST_F(HostCalls, ReductionsReachTheRootAlone) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{500}, std::size_t{30000}})
        for (int root = 0; root < ranks_; ++root) {
            const std::vector<int> in = values(rank_, count);
            std::vector<int> out(count, -1);
            const int n = static_cast<int>(count);
            // On other ranks the result's buffer means nothing.
            void* const result = rank_ == root ? out.data() : nullptr;
            const bool served = serves_reduce_of(count * sizeof(int), ranks_);
            ASSERT_EQ(
                connected().reduce(in.data(), result, n, MPI_INT, MPI_SUM, root, comm_).served,
                served);
            if (!served) continue;
            EXPECT_EQ(out, rank_ == root ? sums(count) : std::vector<int>(count, -1));
            std::vector<int> both = in;
            ASSERT_TRUE(connected()
                            .reduce(rank_ == root ? MPI_IN_PLACE : both.data(),
                                    rank_ == root ? both.data() : nullptr, n, MPI_INT, MPI_SUM,
                                    root, comm_)
                            .served);
            EXPECT_EQ(both, rank_ == root ? sums(count) : in);
        }
}

TEST_F(HostCalls, AllgathersAndReduceScattersAreServedWhateverTheirSize) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{300}, std::size_t{8000}}) {
        const auto blocks = static_cast<std::size_t>(ranks_);
        const int n = static_cast<int>(count);
        const std::vector<int> mine = values(rank_, count);
        std::vector<int> all(count * blocks, -1), expected;
        ASSERT_TRUE(
            connected().allgather(mine.data(), n, MPI_INT, all.data(), n, MPI_INT, comm_).served);
        for (int rank = 0; rank < ranks_; ++rank)
            for (const int each : values(rank, count)) expected.push_back(each);
        EXPECT_EQ(all, expected);
        std::vector<int> own(count * blocks, -1);
        std::copy(mine.begin(), mine.end(), own.begin() + rank_ * n);
        ASSERT_TRUE(
            connected()
                .allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, own.data(), n, MPI_INT, comm_)
                .served);
        EXPECT_EQ(own, expected);

        const std::vector<int> whole = values(rank_, count * blocks);
        const std::vector<int> total = sums(count * blocks);
        const std::vector<int> wanted(total.begin() + rank_ * n, total.begin() + (rank_ + 1) * n);
        std::vector<int> block(count, -1);
        ASSERT_TRUE(
            connected()
                .reduce_scatter_block(whole.data(), block.data(), n, MPI_INT, MPI_SUM, comm_)
                .served);
        EXPECT_EQ(block, wanted);
        const std::vector<int> counts(blocks, n);
        std::fill(block.begin(), block.end(), -1);
        ASSERT_TRUE(
            connected()
                .reduce_scatter(whole.data(), block.data(), counts.data(), MPI_INT, MPI_SUM, comm_)
                .served);
        EXPECT_EQ(block, wanted);
    }
}

TEST_F(HostCalls, WrongArgumentsAreForMpiToRefuse) {
    int data = 1, out = 0;
    for (const int root : {-1, ranks_})
        EXPECT_FALSE(connected().bcast(&data, 1, MPI_INT, root, comm_).served);
    EXPECT_FALSE(connected().bcast(&data, -1, MPI_INT, 0, comm_).served);
    EXPECT_FALSE(connected().bcast(&data, 1, MPI_DATATYPE_NULL, 0, comm_).served);
    EXPECT_FALSE(connected().reduce(&data, &out, 1, MPI_INT, MPI_OP_NULL, 0, comm_).served);
    EXPECT_FALSE(connected().barrier(MPI_COMM_NULL).served);
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    int pair[2] = {};
    EXPECT_FALSE(connected().bcast(pair, 1, uncommitted, 0, comm_).served);
    MPI_Type_free(&uncommitted);
    std::vector<int> vector(1000);
    EXPECT_TRUE(connected().bcast(vector.data(), 1000, MPI_INT, 0, comm_).served);
}

/// All ranks have null here, and each is also told by the others.
TEST_F(HostCalls, NullIsAnErrorWhereTheCallWouldBeServed) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    std::vector<int> vector(1000);
    for (const Answer& answer :
         {connected().bcast(nullptr, 1000, MPI_INT, 0, comm_),
          connected().reduce(nullptr, vector.data(), 1000, MPI_INT, MPI_SUM, 0, comm_)}) {
        EXPECT_TRUE(answer.served);
        int error_class = MPI_SUCCESS;
        MPI_Error_class(answer.code, &error_class);
        EXPECT_EQ(error_class, MPI_ERR_BUFFER);
    }
    EXPECT_TRUE(connected().bcast(vector.data(), 1000, MPI_INT, 0, comm_).served);
}

TEST_F(HostCalls, OneBufferForInputAndResultOfTheRootIsForMpiToRefuse) {
    std::vector<int> data(1000, 1);
    const Answer answer =
        connected().reduce(data.data(), data.data(), 1000, MPI_INT, MPI_SUM, 0, comm_);
    EXPECT_EQ(answer.served, rank_ != 0);
}

TEST_F(HostCalls, UserDefinedOpsPass) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
    int data = 1, out = 0;
    EXPECT_FALSE(connected().reduce(&data, &out, 1, MPI_INT, op, 0, comm_).served);
    MPI_Op_free(&op);
}

TEST_F(HostCalls, ARankInAnotherCallGetsAnErrorAndTheNextCallIsRight) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    std::vector<int> data(1000, 1), out(1000);
    const bool is_last = rank_ == ranks_ - 1;
    const Answer answer =
        is_last ? connected().bcast(data.data(), 1000, MPI_INT, 0, comm_)
                : connected().allreduce(data.data(), out.data(), 1000, MPI_INT, MPI_SUM, comm_);
    ASSERT_TRUE(answer.served);
    EXPECT_NE(answer.code, MPI_SUCCESS);
    const Answer next = connected().bcast(data.data(), 1000, MPI_INT, 0, comm_);
    EXPECT_TRUE(next.served);
    EXPECT_EQ(next.code, MPI_SUCCESS);
}

TEST_F(HostCalls, OtherCallsOnTheSameRanksAreNotServed) {
    EXPECT_FALSE(connected().barrier(MPI_COMM_SELF).served);
    MPI_Comm inter = MPI_COMM_NULL, half = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank_ == 0, rank_, &half);
    MPI_Intercomm_create(half, 0, comm_, rank_ == 0 ? 1 : 0, 7, &inter);
    int data = 0;
    EXPECT_FALSE(connected().barrier(inter).served);
    EXPECT_FALSE(connected().bcast(&data, 1, MPI_INT, rank_ == 0 ? MPI_ROOT : 0, inter).served);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

TEST_F(HostCalls, AreCountedAsServed) {
    const unsigned long long before = comm_.stats().calls_tree;
    std::vector<int> data(1000), out(1000);
    connected().barrier(comm_);
    connected().bcast(data.data(), 1000, MPI_INT, 0, comm_);
    connected().reduce(data.data(), out.data(), 1000, MPI_INT, MPI_SUM, 0, comm_);
    EXPECT_EQ(comm_.stats().calls_tree, before + 3);
}

}  // namespace
}  // namespace gradcoll::test
