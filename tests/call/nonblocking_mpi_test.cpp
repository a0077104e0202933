// GC_Iallreduce with MPI_THREAD_MULTIPLE (GC_TEST_THREADS=multiple): ordinary MPI requests, any
// order of completion, threads.
#include <unistd.h>

#include <memory>
#include <thread>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

struct Pending {
    std::vector<float> values;
    MPI_Request request = MPI_REQUEST_NULL;

    Pending(const OwnComm& comm, std::size_t count, float value) : values(count, value) {
        EXPECT_EQ(GC_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_FLOAT,
                                MPI_SUM, comm, &request),
                  MPI_SUCCESS);
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    void expect_sum(float value, int ranks) const {
        EXPECT_EQ(values, std::vector<float>(values.size(), value * static_cast<float>(ranks)));
    }
};

TEST(Nonblocking, WaitCompletesOnEveryTree) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        const OwnComm comm(tree);
        Pending call(comm, 30000, 2.0F);
        ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(call.request, MPI_REQUEST_NULL);
        call.expect_sum(2.0F, comm.size());
        if (comm.size() > 1) {
            EXPECT_EQ(comm.stats().calls_tree, 1U);
        }
    }
}

/// MPI reports errors of requests that belong to no communicator to the world's handler.
TEST(Nonblocking, OpsThatDifferAreAnErrorOnEveryRank) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nobody differs";
    alarm(60);  // a call that hangs is a failure
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<float> values(30000, 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(GC_Iallreduce(MPI_IN_PLACE, values.data(), 30000, MPI_FLOAT,
                            comm.rank() == 0 ? MPI_MAX : MPI_SUM, comm, &request),
              MPI_SUCCESS);
    EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    Pending call(comm, 30000, 2.0F);
    ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    call.expect_sum(2.0F, comm.size());
    alarm(0);
}

/// One rank has no vector: it gets its own error at once, all others one that names it.
void expect_refused(const OwnComm& comm, int count, int refusing) {
    SCOPED_TRACE(std::to_string(count) + " elements, rank " + std::to_string(refusing));
    std::vector<float> values(static_cast<std::size_t>(count), 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool refuses = comm.rank() == refusing;
    const int code = GC_Iallreduce(MPI_IN_PLACE, refuses ? nullptr : values.data(), count,
                                   MPI_FLOAT, MPI_SUM, comm, &request);
    EXPECT_EQ(class_of(code), refuses ? MPI_ERR_BUFFER : MPI_SUCCESS);
    if (refuses) {
        EXPECT_EQ(request, MPI_REQUEST_NULL);
        return;
    }
    const int ended = MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_NE(ended, MPI_SUCCESS);
#ifdef OPEN_MPI  // MPICH has a text of its own for requests that failed
    EXPECT_NE(error_text(ended).find("cannot go on"), std::string::npos) << error_text(ended);
#endif
}

void expect_refusals(const OwnComm& comm) {
    alarm(120);  // a call that hangs is a failure
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const int count : {1, 300, 300'000})
        for (int refusing = 0; refusing < comm.size(); ++refusing) {
            expect_refused(comm, count, refusing);
            expect_refused(comm, count, refusing);
            Pending call(comm, 30000, 2.0F);
            ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            call.expect_sum(2.0F, comm.size());
        }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    alarm(0);
}

TEST(Nonblocking, ARankWithoutAVectorTellsTheOthers) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody else waits";
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        comm.set("gc_tree_min_bytes", "0");
        expect_refusals(comm);
    }
    const OwnComm comm;
    comm.set("gc_tree_min_bytes", "0");  // otherwise the MPI library serves short ones
    float value = 1;                     // makes the memory of the host
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, &value, 1, MPI_FLOAT, MPI_SUM, comm), MPI_SUCCESS);
    expect_refusals(comm);
}

TEST(Nonblocking, ARankWithoutAVectorTellsTheOthersWithATolerance) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (comm.size() == 1) GTEST_SKIP() << "nobody else waits";
    comm.set("gc_tolerance", "abs=0.1");
    alarm(60);  // a call that hangs is a failure
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<float> values(5000, 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = GC_Iallreduce(MPI_IN_PLACE, comm.rank() == 0 ? nullptr : values.data(), 5000,
                                   MPI_FLOAT, MPI_SUM, comm, &request);
    EXPECT_EQ(code == MPI_SUCCESS, comm.rank() != 0);
    if (code == MPI_SUCCESS) {
        EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    Pending call(comm, 5000, 2.0F);
    ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    alarm(0);
}

TEST(Nonblocking, TestWaitallAndTestanyCompleteOverlappingCalls) {
    const OwnComm comm(trees_for(size_of(MPI_COMM_WORLD)).back());
    Pending a(comm, 20000, 1.0F), b(comm, 300, 2.0F), c(comm, 50000, 3.0F), d(comm, 1000, 4.0F);

    for (int flag = 0; flag == 0;)
        ASSERT_EQ(MPI_Test(&d.request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Request others[] = {a.request, b.request, c.request};
    for (int flag = 0, index = 0; flag == 0;)
        ASSERT_EQ(MPI_Testany(3, others, &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(MPI_Waitall(3, others, MPI_STATUSES_IGNORE), MPI_SUCCESS);

    a.expect_sum(1.0F, comm.size());
    b.expect_sum(2.0F, comm.size());
    c.expect_sum(3.0F, comm.size());
    d.expect_sum(4.0F, comm.size());
}

/// Rank 0 sends between the call and the wait, and the others receive before they call. It only
/// ends if there is progress without rank 0's help.
TEST(Nonblocking, IallreduceThenSendMeetsRecvThenIallreduce) {
    const OwnComm comm("flat");
    int token = 42;
    if (comm.rank() == 0) {
        Pending call(comm, 30000, 1.0F);
        for (int peer = 1; peer < comm.size(); ++peer) MPI_Ssend(&token, 1, MPI_INT, peer, 7, comm);
        ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        call.expect_sum(1.0F, comm.size());
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
        Pending call(comm, 30000, 1.0F);
        ASSERT_EQ(MPI_Wait(&call.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        call.expect_sum(1.0F, comm.size());
    }
}

TEST(Nonblocking, OverlapsWithBlockingCallsAndOtherRequests) {
    const OwnComm comm("flat");
    Pending call(comm, 60000, 1.0F);
    std::vector<double> values(5000, 0.25);
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, values.data(), 5000, MPI_DOUBLE, MPI_SUM, comm),
              MPI_SUCCESS);
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm, &barrier);
    MPI_Request both[] = {call.request, barrier};
    ASSERT_EQ(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    call.expect_sum(1.0F, comm.size());
    EXPECT_EQ(values, std::vector<double>(5000, 0.25 * comm.size()));
}

TEST(Nonblocking, UnattachedCommunicatorsPass) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int one = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(GC_Iallreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(one, size_of(comm));
    MPI_Comm_free(&comm);
}

TEST(Nonblocking, ACommunicatorMayBeFreedWhileItsCallIsUnderWay) {
    std::vector<float> values(50000, 1.0F);
    MPI_Request request = MPI_REQUEST_NULL;
    const int ranks = size_of(MPI_COMM_WORLD);
    {
        const OwnComm comm("flat");
        ASSERT_EQ(
            GC_Iallreduce(MPI_IN_PLACE, values.data(), 50000, MPI_FLOAT, MPI_SUM, comm, &request),
            MPI_SUCCESS);
    }
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<float>(50000, static_cast<float>(ranks)));
}

/// Rank 0 returns from all of them before the others begin one. An operation beyond the number that
/// tags tell apart (2048 with Open MPI) begins later, and its call still returns.
TEST(Nonblocking, MoreCallsThanTagsTellApartAreUnderWayAtOnce) {
    constexpr int total = 2100;
    const OwnComm comm("flat");
    if (comm.size() > 3) GTEST_SKIP() << "more ranks add nothing but time";
    int token = 0;
    if (comm.rank() != 0) MPI_Recv(&token, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
    std::vector<std::unique_ptr<Pending>> calls;
    std::vector<MPI_Request> requests;
    for (int i = 0; i < total; ++i) {
        calls.push_back(std::make_unique<Pending>(comm, 3, static_cast<float>(i)));
        requests.push_back(calls.back()->request);
    }
    if (comm.rank() == 0)
        for (int peer = 1; peer < comm.size(); ++peer) MPI_Send(&token, 1, MPI_INT, peer, 7, comm);
    ASSERT_EQ(MPI_Waitall(total, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < total; ++i)
        calls[static_cast<std::size_t>(i)]->expect_sum(static_cast<float>(i), comm.size());
    if (comm.size() > 1) {
        EXPECT_EQ(comm.stats().calls_tree, static_cast<unsigned>(total));
    }
}

TEST(Threads, DifferentCommunicatorsRunAtTheSameTime) {
    const OwnComm a("flat"), b(trees_for(size_of(MPI_COMM_WORLD)).back()), c("flat");
    const OwnComm* comms[] = {&a, &b, &c};
    int wrong[3] = {};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            for (int round = 0; round < 20; ++round) {
                std::vector<int> values(3000 + static_cast<std::size_t>(round), t + round);
                const int count = static_cast<int>(values.size());
                const int code =
                    GC_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_INT, MPI_SUM, *comms[t]);
                if (code != MPI_SUCCESS ||
                    values != std::vector<int>(values.size(), (t + round) * comms[t]->size()))
                    ++wrong[t];
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong[0] + wrong[1] + wrong[2], 0);
}

TEST(Threads, PersistentRequestsOfDifferentCommunicatorsRunAtTheSameTime) {
    const OwnComm a("flat"), b("flat");
    const OwnComm* comms[] = {&a, &b};
    int wrong[2] = {};
    std::vector<std::vector<float>> values(2, std::vector<float>(20000));
    GC_Request requests[2];
    for (int t = 0; t < 2; ++t)
        ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, values[static_cast<std::size_t>(t)].data(), 20000,
                                    MPI_FLOAT, MPI_SUM, *comms[t], MPI_INFO_NULL, &requests[t]),
                  MPI_SUCCESS);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
            auto& mine = values[static_cast<std::size_t>(t)];
            for (int round = 0; round < 20; ++round) {
                mine.assign(mine.size(), static_cast<float>(round));
                const bool ok =
                    GC_Start(&requests[t]) == MPI_SUCCESS && GC_Wait(&requests[t]) == MPI_SUCCESS;
                if (!ok || mine != std::vector<float>(mine.size(),
                                                      static_cast<float>(round * comms[t]->size())))
                    ++wrong[t];
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong[0] + wrong[1], 0);
    for (GC_Request& request : requests) EXPECT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
