// Messages of the program that are under way while its ranks are in a collective call: the call
// has to drive MPI's progress, whatever carries its own data. GC_TEST_ALLREDUCE is GC_Allreduce in
// the program that is linked with the library, MPI_Allreduce in the one that runs under the
// interposer.
#include <gradcoll.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace gradcoll::test {
namespace {

struct Case {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;
    Case() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        sum(16);  // the communicator's state is made before any message is under way
    }
    ~Case() { MPI_Comm_free(&comm); }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    void sum(int count) const {
        std::vector<float> values(static_cast<std::size_t>(count), 1.0F);
        ASSERT_EQ(GC_TEST_ALLREDUCE(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(values, std::vector<float>(values.size(), static_cast<float>(size)));
    }
};

constexpr int message_length = 1 << 20;  // 4 MiB: no MPI library sends it without the receiver

/// Passes a long message from every rank to the next around the call. Ranks with an odd number
/// receive theirs before they call.
void pass_on(const Case& of, int count) {
    std::vector<int> out(message_length), in(message_length);
    std::iota(out.begin(), out.end(), of.rank);
    const int next = (of.rank + 1) % of.size;
    const int previous = (of.rank + of.size - 1) % of.size;
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(out.data(), message_length, MPI_INT, next, 1, of.comm, &sent);
    const auto receive = [&] {
        MPI_Recv(in.data(), message_length, MPI_INT, previous, 1, of.comm, MPI_STATUS_IGNORE);
    };
    const bool receives_first = of.rank % 2 == 1;
    if (receives_first) receive();
    of.sum(count);
    if (!receives_first) receive();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    std::vector<int> wanted(message_length);
    std::iota(wanted.begin(), wanted.end(), previous);
    EXPECT_TRUE(in == wanted);
}

class MessagesUnderWay : public testing::TestWithParam<int> {};

TEST_P(MessagesUnderWay, ArriveAtRanksThatWaitForThemBeforeTheyCall) {
    const Case of;
    for (int round = 0; round < 5; ++round) pass_on(of, GetParam());
}

/// All but the last rank are in the call while the last one takes its messages in one by one.
TEST_P(MessagesUnderWay, AreSentByRanksThatWaitInTheCall) {
    const Case of;
    const int last = of.size - 1;
    std::vector<int> words(message_length, of.rank);
    MPI_Request sent = MPI_REQUEST_NULL;
    if (of.rank != last) MPI_Isend(words.data(), message_length, MPI_INT, last, 2, of.comm, &sent);
    for (int rank = 0; of.rank == last && rank < last; ++rank) {
        MPI_Recv(words.data(), message_length, MPI_INT, rank, 2, of.comm, MPI_STATUS_IGNORE);
        EXPECT_EQ(words, std::vector<int>(message_length, rank));
    }
    of.sum(GetParam());
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

INSTANTIATE_TEST_SUITE_P(OfElements, MessagesUnderWay, testing::Values(1, 5000, 300000));

}  // namespace
}  // namespace gradcoll::test
