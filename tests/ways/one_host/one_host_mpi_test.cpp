// Exact allreduces of ranks on one host go through shared memory, unless somebody wants the tree.
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

std::string explanation(MPI_Comm comm, MPI_Count count) {
    std::size_t length = 0;
    GC_Explain_allreduce(comm, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_TEXT, nullptr, &length);
    std::string text(length, '\0');
    GC_Explain_allreduce(comm, count, MPI_FLOAT, MPI_SUM, GC_EXPLAIN_TEXT, text.data(), &length);
    return text;
}

int sum_of_ones(MPI_Comm comm, int count) {
    std::vector<int> ones(static_cast<std::size_t>(count), 1);
    EXPECT_EQ(GC_Allreduce(MPI_IN_PLACE, ones.data(), count, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    return count == 0 ? 0 : ones.back();
}

/// Returns how much shared memory of this process is resident.
long shared_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssShmem:")) return std::stol(line.substr(9));
    return 0;
}

class HostWay : public testing::Test {
  protected:
    PlainComm comm_;
    int rank_ = comm_.rank();
    int ranks_ = comm_.size();
};

TEST_F(HostWay, ServesTheShortestCallsToo) {
    for (const int count : {0, 1, 2, 100, 100000}) {
        EXPECT_EQ(sum_of_ones(comm_, count), count == 0 ? 0 : ranks_);
    }
    EXPECT_EQ(comm_.stats().calls_tree, 5U);
    EXPECT_NE(explanation(comm_, 1).find("through the memory that all its ranks share"),
              std::string::npos);
}

TEST_F(HostWay, IsLeftForAWrittenTreeAnExchangeOrNoSharedMemory) {
    struct {
        const char* key;
        const char* value;
    } const wishes[] = {{"gc_topology", "flat"}, {"gc_exchange", "ring"}, {"gc_shm_bytes", "0"}};
    for (const auto& wish : wishes) {
        const PlainComm comm;
        ASSERT_EQ(GC_Comm_set_option(comm, wish.key, wish.value), MPI_SUCCESS);
        EXPECT_EQ(sum_of_ones(comm, 1), ranks_);
        EXPECT_EQ(comm.stats().calls_tree, 0U) << wish.key;  // too short for the tree
        EXPECT_EQ(sum_of_ones(comm, 1 << 20), ranks_);
        EXPECT_EQ(comm.stats().calls_tree, 1U) << wish.key;
        EXPECT_NE(explanation(comm, 1 << 20).find("goes over the tree"), std::string::npos);
    }
}

TEST_F(HostWay, SizeOfTheMemoryChangesNoResult) {
    for (const char* size : {"128K", "1M", "64M"}) {
        ASSERT_EQ(GC_Comm_set_option(comm_, "gc_shm_bytes", size), MPI_SUCCESS);
        EXPECT_EQ(sum_of_ones(comm_, 123457), ranks_) << size;
    }
    EXPECT_EQ(class_of(GC_Comm_set_option(comm_, "gc_shm_bytes", "1K")), MPI_ERR_ARG);
    EXPECT_EQ(class_of(GC_Comm_set_option(comm_, "gc_shm_bytes", "2G")), MPI_ERR_ARG);
    EXPECT_EQ(sum_of_ones(comm_, 3), ranks_);
}

/// The memory has a size that no other test has, so that no blocks are there already.
TEST_F(HostWay, BlocksGrowWithWhatIsMovedAsFarAsTheProcessHasMemory) {
    const bool is_limited = std::getenv("GC_SHM_BYTES") != nullptr;
    ASSERT_EQ(GC_Comm_set_option(comm_, "gc_shm_bytes", "1100K"), MPI_SUCCESS);
    EXPECT_EQ(sum_of_ones(comm_, 1), ranks_);
    const long before = shared_kib();
    const auto kib_a_rank = [&] { return (shared_kib() - before) / ranks_; };
    EXPECT_EQ(sum_of_ones(comm_, 1 << 16), ranks_);
    EXPECT_LT(kib_a_rank(), 400);
    EXPECT_EQ(sum_of_ones(comm_, 1 << 22), ranks_);
    if (is_limited) {
        EXPECT_LT(kib_a_rank(), 400);
    } else {
        const long least_kib = ranks_ == 2 ? 250 : 500;  // two have no use for blocks over 64 KiB
        EXPECT_GT(kib_a_rank(), least_kib);
    }
    EXPECT_EQ(sum_of_ones(comm_, 100000), ranks_);
}

TEST_F(HostWay, DifferentCountsAreAnErrorOnEveryRankAndNobodyHangs) {
    std::vector<int> ones(5000, 1);
    for (const int others : {1, 0, 4000}) {
        const int count = rank_ == 0 ? others : 3;
        EXPECT_EQ(class_of(GC_Allreduce(MPI_IN_PLACE, ones.data(), count, MPI_INT, MPI_SUM, comm_)),
                  MPI_ERR_ARG);
        std::array<char, GC_MAX_ERROR_STRING> text{};
        GC_Error_string(MPI_ERR_ARG, text.data(), nullptr);
        EXPECT_NE(std::string(text.data()).find("count, datatype or op"), std::string::npos);
        EXPECT_EQ(sum_of_ones(comm_, 1000), ranks_);
    }
}

TEST_F(HostWay, ManyCommunicatorsTakeTurns) {
    constexpr int many = 20;
    std::array<MPI_Comm, many> comms{};
    for (MPI_Comm& comm : comms) MPI_Comm_dup(comm_, &comm);
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < many; ++i)
            EXPECT_EQ(sum_of_ones(comms[static_cast<std::size_t>(i)], 1 + i * 997), ranks_);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// Memory for messages is shared; blocks are small where there are many.
TEST_F(HostWay, HundredsOfCommunicatorsTakeLittleMemory) {
    constexpr int many = 400;
    const long before = shared_kib();
    const auto kib_of_one = [&] { return (shared_kib() - before) / ranks_ / many; };
    std::vector<MPI_Comm> comms(many);
    for (MPI_Comm& comm : comms) MPI_Comm_dup(comm_, &comm);
    for (MPI_Comm comm : comms) ASSERT_EQ(sum_of_ones(comm, 1), ranks_);
    EXPECT_LT(kib_of_one(), 150);
    for (MPI_Comm comm : comms) ASSERT_EQ(sum_of_ones(comm, 1 << 16), ranks_);
    EXPECT_LT(kib_of_one(), 600);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

TEST_F(HostWay, RanksOfAReversedCommunicatorSumInItsOrder) {
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(comm_, 0, -rank_, &reversed);
    // Large, small, -large: the order of the sums shows.
    const float values[] = {1e8F, 1.0F, -1e8F, 3.0F, 5e7F, 7.0F, -5e7F, 9.0F};
    const float mine = values[ranks_ - 1 - rank_];
    float expected = values[0];
    for (int i = 1; i < ranks_; ++i) expected += values[i];
    float sum = 0;
    GC_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, reversed);
    EXPECT_EQ(sum, expected);
    MPI_Comm_free(&reversed);
}

}  // namespace
}  // namespace gradcoll::test
