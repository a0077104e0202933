// Who shares device memory with whom: ranks of one host, with and without a device.
#include <algorithm>

#include "base/mpi/mpi.hpp"
#include "device/contract.hpp"
#include "device/ipc/peer_device_memory.hpp"
#include "device/ipc/peers_that_share.hpp"
#include "device/ipc/watched_device.hpp"

namespace gradcoll::test {
namespace {

class Peers : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    /// Returns peers_that_share() as a row of 0 and 1; empty if it failed.
    std::string row(Device* device, MPI_Comm comm = MPI_COMM_WORLD) {
        const auto shares = peers_that_share(comm, device);
        EXPECT_TRUE(succeeds(shares.status()));
        std::string text;
        for (std::size_t i = 0; shares.ok() && i < shares->size(); ++i)
            text += (*shares)[i] ? '1' : '0';
        return text;
    }
    /// Returns the ranks for which `has` holds, other than this one; none if it does not hold for
    /// this one.
    template <class Has>
    std::string others(Has has) {
        std::string text;
        for (int rank = 0; rank < size_; ++rank)
            text += has(rank_) && has(rank) && rank != rank_ ? '1' : '0';
        return text;
    }

    int rank_ = 0, size_ = 1;
};

TEST_F(Peers, AllRanksOfAHostWithDevicesShare) {
    EXPECT_EQ(row(device_), others([](int) { return true; }));
}

TEST_F(Peers, RanksWithoutADeviceTakePartAndShareWithNobody) {
    const auto has = [](int rank) { return rank % 2 == 0; };
    EXPECT_EQ(row(has(rank_) ? device_ : nullptr), others(has));
    EXPECT_EQ(row(nullptr), others([](int) { return false; }));
}

TEST_F(Peers, OneThatCannotShareOrOpenSharesWithNobodyBothWays) {
    const auto can = [](int rank) { return rank != 0; };
    WatchedDevice watched(*device_);
    watched.may_share = can(rank_);
    EXPECT_EQ(row(&watched), others(can));
    watched.may_share = true;
    watched.may_open = can(rank_);
    EXPECT_EQ(row(&watched), others(can));
}

TEST_F(Peers, NothingStaysOpen) {
    WatchedDevice watched(*device_);
    row(&watched);
    EXPECT_EQ(watched.opened, size_ - 1);
    EXPECT_EQ(watched.closed, watched.opened);
}

TEST_F(Peers, AreNumberedByTheCommunicatorThatIsAskedFor) {
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &reversed);
    const auto has = [](int rank) { return rank > 0; };
    std::string want = others(has);
    std::reverse(want.begin(), want.end());
    EXPECT_EQ(row(has(rank_) ? device_ : nullptr, reversed), want);
    MPI_Comm_free(&reversed);
}

TEST_F(Peers, ReadWhatAReferenceOfAnotherProcessMeans) {
    constexpr std::size_t size_bytes = 300000;
    DeviceBuffer buffer(*device_, size_bytes);
    fill(buffer.data(), pattern(size_bytes, static_cast<unsigned>(rank_)));
    PeerDeviceMemory memory(*device_);
    for (int root = 0; root < size_; ++root) {
        std::array<std::byte, reference_bytes> reference{};
        if (rank_ == root) {
            EXPECT_TRUE(succeeds(memory.refer(buffer.data() + 7, size_bytes - 7, reference)));
        }
        MPI_Bcast(reference.data(), reference_bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        if (rank_ != root) {
            const auto bytes = memory.resolve(reference, size_bytes - 7);
            EXPECT_TRUE(succeeds(bytes.status()));
            const auto want = pattern(size_bytes, static_cast<unsigned>(root));
            const auto got = content(static_cast<const std::byte*>(*bytes), size_bytes - 7);
            EXPECT_EQ(0, std::memcmp(got.data(), want.data() + 7, got.size()));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace gradcoll::test
