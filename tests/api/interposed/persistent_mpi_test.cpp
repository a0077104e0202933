// MPI_Allreduce_init of unchanged programs (GC_TEST_THREADS=multiple): real requests of MPI,
// started and completed by MPI's own calls. The table is called as the interposer calls it.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "api/interposed/support.hpp"

namespace gradcoll::test {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

Answer init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request* request, MPI_Info info = MPI_INFO_NULL) {
    return connected().allreduce_init(in, out, count, type, op, comm, info, request);
}

/// The functions below do what the interposer makes of MPI_Start, MPI_Startall and
/// MPI_Request_free.
void start(MPI_Request& request) {
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    connected()->started(1, &request);
}
void start_all(std::vector<MPI_Request>& requests) {
    const int count = static_cast<int>(requests.size());
    ASSERT_EQ(MPI_Startall(count, requests.data()), MPI_SUCCESS);
    connected()->started(count, requests.data());
}
void free_request(MPI_Request& request) {
    connected()->freeing(&request);
    ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
}

/// Sum is a request over its own values: `fill` gives rank r the value r + 1 + round.
class Sum {
  public:
    explicit Sum(MPI_Comm comm, int count = long_count, MPI_Op op = MPI_SUM)
        : comm_size_(size_of(comm)),
          rank_(rank_of(comm)),
          in_(static_cast<std::size_t>(count)),
          out_(static_cast<std::size_t>(count)) {
        const Answer answer = init(in_.data(), out_.data(), count, MPI_FLOAT, op, comm, &request);
        EXPECT_TRUE(answer.served);
        EXPECT_EQ(answer.code, MPI_SUCCESS);
    }
    ~Sum() {
        if (request != MPI_REQUEST_NULL) free_request(request);
    }
    Sum(const Sum&) = delete;
    Sum& operator=(const Sum&) = delete;

    void fill(int round) {
        std::fill(in_.begin(), in_.end(), static_cast<float>(rank_ + 1 + round));
        std::fill(out_.begin(), out_.end(), -1.0F);
    }
    void expect(int round) const {
        const int ranks = comm_size_;
        const auto sum = static_cast<float>(ranks * (ranks + 1) / 2 + ranks * round);
        EXPECT_EQ(out_, std::vector<float>(out_.size(), sum)) << "round " << round;
    }

    MPI_Request request = MPI_REQUEST_NULL;

  private:
    int comm_size_;
    int rank_;
    std::vector<float> in_, out_;
};

/// The requests of a single rank are the MPI library's, as it has nobody to talk to.
class InterposedPersistent : public testing::Test {
  protected:
    void SetUp() override {
        if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "requests of one rank are left";
    }
};

TEST(InterposedPersistentAlone, OneRankIsLeft) {
    if (size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "there are several";
    const PlainComm comm;
    std::vector<float> values(long_count, 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_FALSE(
        init(MPI_IN_PLACE, values.data(), long_count, MPI_FLOAT, MPI_SUM, comm, &request).served);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(connected().least(GC_CALL_START), never);
}

TEST_F(InterposedPersistent, OpsThatDifferAreAnErrorOfTheInit) {
    const PlainComm comm;
    std::vector<float> in(long_count), out(long_count);
    MPI_Request wrong = MPI_REQUEST_NULL;
    const Answer answer = init(in.data(), out.data(), long_count, MPI_FLOAT,
                               rank_of(comm) == 0 ? MPI_MAX : MPI_SUM, comm, &wrong);
    EXPECT_TRUE(answer.served);
    EXPECT_NE(answer.code, MPI_SUCCESS);
    EXPECT_EQ(wrong, MPI_REQUEST_NULL);
    Sum sum(comm);
    sum.fill(1);
    start(sum.request);
    ASSERT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    sum.expect(1);
}

TEST_F(InterposedPersistent, WaitCompletesEveryStartWithAnEmptyStatus) {
    const PlainComm comm;
    Sum sum(comm);
    const MPI_Request made = sum.request;
    for (int round = 0; round < 5; ++round) {
        sum.fill(round);
        start(sum.request);
        MPI_Status status;
        ASSERT_EQ(MPI_Wait(&sum.request, &status), MPI_SUCCESS);
        sum.expect(round);
        EXPECT_EQ(sum.request, made) << "a persistent request stays";
        int count = -1, cancelled = -1;
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Test_cancelled(&status, &cancelled);
        EXPECT_EQ(count, 0);
        EXPECT_EQ(cancelled, 0);
    }
    EXPECT_EQ(comm.stats().calls_tree, 5U);
}

TEST_F(InterposedPersistent, StartsAreOfferedWhileThereIsARequest) {
    const PlainComm comm;
    EXPECT_EQ(connected().least(GC_CALL_START), never);
    {
        const Sum a(comm), b(comm);
        EXPECT_EQ(connected().least(GC_CALL_START), 0);
    }
    EXPECT_EQ(connected().least(GC_CALL_START), never);
}

TEST_F(InterposedPersistent, WhatTheTreeDoesNotServeIsLeft) {
    const PlainComm comm;
    std::vector<float> values(long_count, 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto served = [&](int count, MPI_Datatype type, MPI_Op op, MPI_Request* out) {
        return init(MPI_IN_PLACE, values.data(), count, type, op, comm, out).served;
    };
    EXPECT_FALSE(served(100, MPI_FLOAT, MPI_SUM, &request)) << "short";
    EXPECT_FALSE(served(1000, MPI_FLOAT_INT, MPI_MINLOC, &request));
    EXPECT_FALSE(served(-1, MPI_FLOAT, MPI_SUM, &request));
    EXPECT_FALSE(served(long_count, MPI_DATATYPE_NULL, MPI_SUM, &request));
    EXPECT_FALSE(served(long_count, MPI_FLOAT, MPI_OP_NULL, &request));
    EXPECT_FALSE(served(long_count, MPI_FLOAT, MPI_SUM, nullptr));
    EXPECT_EQ(request, MPI_REQUEST_NULL);
}

TEST_F(InterposedPersistent, RanksStartAndWaitInDifferentOrders) {
    const PlainComm comm;
    constexpr std::size_t requests = 6;
    std::vector<std::unique_ptr<Sum>> sums;
    for (std::size_t i = 0; i < requests; ++i)
        sums.push_back(std::make_unique<Sum>(comm, long_count + static_cast<int>(i)));
    std::vector<std::size_t> order(requests);
    std::iota(order.begin(), order.end(), 0U);
    std::rotate(order.begin(), order.begin() + comm.rank() % static_cast<int>(requests),
                order.end());
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i : order) {
            sums[i]->fill(round + static_cast<int>(i));
            start(sums[i]->request);
        }
        std::reverse(order.begin(), order.end());
        for (std::size_t i : order) {
            ASSERT_EQ(MPI_Wait(&sums[i]->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            sums[i]->expect(round + static_cast<int>(i));
        }
    }
}

TEST_F(InterposedPersistent, StartallAndEveryWayToComplete) {
    const PlainComm comm;
    Sum a(comm), b(comm, long_count + 1), c(comm, long_count + 2);
    for (int round = 0; round < 4; ++round) {
        for (Sum* sum : {&a, &b, &c}) sum->fill(round);
        std::vector<MPI_Request> all = {a.request, b.request, c.request};
        start_all(all);
        int done = 0, index = 0;
        std::array<int, 3> indices{};
        switch (round) {
            case 0:
                ASSERT_EQ(MPI_Waitall(3, all.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
                break;
            case 1:
                for (MPI_Request& request : all)
                    for (int flag = 0; flag == 0;)
                        ASSERT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
                break;
            case 2:
                while (done < 3) {
                    int some = 0;
                    ASSERT_EQ(
                        MPI_Waitsome(3, all.data(), &some, indices.data(), MPI_STATUSES_IGNORE),
                        MPI_SUCCESS);
                    done += some;
                }
                break;
            default:
                for (; done < 3; ++done)
                    ASSERT_EQ(MPI_Waitany(3, all.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        for (Sum* sum : {&a, &b, &c}) sum->expect(round);
    }
}

TEST_F(InterposedPersistent, OneBufferForBothAndOverlappingBuffers) {
    const PlainComm comm;
    std::vector<float> values(long_count + 8, 1.0F);
    MPI_Request in_place = MPI_REQUEST_NULL, overlapping = MPI_REQUEST_NULL;
    ASSERT_TRUE(
        init(MPI_IN_PLACE, values.data(), long_count, MPI_FLOAT, MPI_SUM, comm, &in_place).served);
    ASSERT_TRUE(
        init(values.data(), values.data() + 8, long_count, MPI_FLOAT, MPI_SUM, comm, &overlapping)
            .served);
    for (int round = 0; round < 2; ++round) {
        std::fill(values.begin(), values.end(), static_cast<float>(round + 1));
        start(in_place);
        ASSERT_EQ(MPI_Wait(&in_place, MPI_STATUS_IGNORE), MPI_SUCCESS);
        const auto sum = static_cast<float>((round + 1) * comm.size());
        EXPECT_EQ(values[0], sum);
        EXPECT_EQ(values[long_count - 1], sum);
        std::fill(values.begin(), values.end(), static_cast<float>(round + 1));
        start(overlapping);
        ASSERT_EQ(MPI_Wait(&overlapping, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(values[0], static_cast<float>(round + 1));
        EXPECT_EQ(values[8], sum);
        EXPECT_EQ(values[long_count + 7], sum);
    }
    free_request(in_place);
    free_request(overlapping);
}

TEST_F(InterposedPersistent, BesideBlockingAndNonblockingCalls) {
    const PlainComm comm;
    Sum sum(comm);
    sum.fill(7);
    start(sum.request);
    std::vector<float> values(long_count, 1.0F);
    const Answer blocking =
        connected().allreduce(MPI_IN_PLACE, values.data(), long_count, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_TRUE(blocking.served);
    EXPECT_EQ(values[long_count / 2], static_cast<float>(comm.size()));
    MPI_Request others[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Ibarrier(comm, &others[0]);
    std::vector<float> more(long_count, 2.0F);
    EXPECT_TRUE(
        connected()
            .iallreduce(MPI_IN_PLACE, more.data(), long_count, MPI_FLOAT, MPI_SUM, comm, &others[1])
            .served);
    MPI_Request all[3] = {others[0], sum.request, others[1]};
    ASSERT_EQ(MPI_Waitall(3, all, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    sum.expect(7);
    EXPECT_EQ(more[1], static_cast<float>(2 * comm.size()));
}

TEST_F(InterposedPersistent, TheCommunicatorMayBeFreedFirst) {
    auto comm = std::make_unique<PlainComm>();
    Sum sum(*comm);
    comm.reset();
    for (int round = 0; round < 2; ++round) {
        sum.fill(round);
        start(sum.request);
        ASSERT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        sum.expect(round);
    }
}

/// The sums arrive nevertheless: MPI completes the operation, then frees the request.
TEST_F(InterposedPersistent, ARequestMayBeFreedWhileItIsActive) {
    const PlainComm comm;
    Sum freed(comm), other(comm);
    freed.fill(1);
    start(freed.request);
    free_request(freed.request);
    MPI_Barrier(comm);
    const double deadline = MPI_Wtime() + 60.0;
    int ignored_flag = 0;
    other.fill(2);
    start(other.request);
    ASSERT_EQ(MPI_Wait(&other.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    while (comm.stats().calls_tree < 2 && MPI_Wtime() < deadline)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &ignored_flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(comm.stats().calls_tree, 2U);
    freed.expect(1);
    other.expect(2);
}

/// The requests are more than a small tag space has numbers for.
TEST_F(InterposedPersistent, HundredsOfRequestsOneAfterTheOther) {
    const PlainComm comm;
    for (int i = 0; i < 300; ++i) {
        Sum sum(comm, 70'000);
        if (i % 50 != 0) continue;
        sum.fill(i);
        start(sum.request);
        ASSERT_EQ(MPI_Wait(&sum.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        sum.expect(i);
    }
}

TEST_F(InterposedPersistent, InfoOfTheRequestSetsItsCodec) {
    const PlainComm comm;
    std::vector<float> values = floats<float>(comm.rank(), long_count);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "gc_codec", "2:4");
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_TRUE(
        init(MPI_IN_PLACE, values.data(), long_count, MPI_FLOAT, MPI_SUM, comm, &request, info)
            .served);
    MPI_Info_free(&info);
    start(request);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(same_on_all_ranks(values, comm));
    EXPECT_EQ(comm.stats().calls_compressed, 1U);
    free_request(request);
}

}  // namespace
}  // namespace gradcoll::test
