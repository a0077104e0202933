// Blocking allreduces on one host whose vectors are in memory of devices: long ones stay there if
// those of all ranks are, short ones go by way of the host.
#include "call/device_support.hpp"

namespace gradcoll::test {
namespace {

/// Returns values whose sums are exact, whatever the order.
std::vector<float> whole_numbers(int rank, int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 5) % 101);
    return values;
}

std::vector<std::byte> sum_of(int ranks, int count) {
    std::vector<float> sum(static_cast<std::size_t>(count));
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<float> values = whole_numbers(rank, count);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    return Buffer::bytes_of(sum);
}

/// Reduces, and tells whether that went over the tree: shared memory needs no messages.
bool goes_over_tree(const OwnComm& comm, int count, bool on_device, bool in_place = false) {
    const std::vector<float> input = whole_numbers(comm.rank(), count);
    Buffer send(on_device, input);
    Buffer receive(on_device, in_place ? input : std::vector<float>(input.size(), -7.0F));
    EXPECT_EQ(GC_Comm_reset_stats(comm), MPI_SUCCESS);
    EXPECT_EQ(GC_Allreduce(in_place ? MPI_IN_PLACE : send.data(), receive.data(), count, MPI_FLOAT,
                           MPI_SUM, comm),
              MPI_SUCCESS);
    EXPECT_TRUE(receive.content() == sum_of(comm.size(), count)) << count;
    GC_Stats stats{};
    EXPECT_EQ(GC_Comm_get_stats(comm, &stats), MPI_SUCCESS);
    EXPECT_EQ(stats.calls_passed, 0);
    return stats.messages_sent > 0;
}

constexpr int long_count = 70001, short_count = 1023;  // vectors of 4 KiB and more are long here

TEST(DevicePlaces, LongVectorsOfAllRanksStayOnDevices) {
    const OwnComm comm;
    comm.set("gc_device_min_bytes", "4K");
    const bool others = comm.size() > 1;
    for (int time = 0; time < 3; ++time) {
        EXPECT_EQ(goes_over_tree(comm, long_count, true), others);
        EXPECT_EQ(goes_over_tree(comm, 1024, true, /*in_place=*/true), others);
        EXPECT_FALSE(goes_over_tree(comm, short_count, true));
        EXPECT_FALSE(goes_over_tree(comm, long_count, false));
        // The call is made twice, as vectors on the host take a shorter way the second time.
        for (int again = 0; again < 2; ++again)
            EXPECT_FALSE(goes_over_tree(comm, long_count, comm.rank() > 0)) << comm.size();
    }
}

TEST(DevicePlaces, VectorsOfTheHostAreNotAskedForUntilDevicesAreUsed) {
    const OwnComm comm;
    comm.set("gc_device_min_bytes", "4K");
    for (int time = 0; time < 40; ++time) EXPECT_FALSE(goes_over_tree(comm, long_count, false));
    bool over_tree = false;
    for (int time = 0; time < 64; ++time) over_tree = goes_over_tree(comm, long_count, true);
    EXPECT_EQ(over_tree, comm.size() > 1);
}

TEST(DevicePlaces, ReproducibleSumsKeepTheirOrder) {
    const OwnComm comm;
    comm.set("gc_device_min_bytes", "0");
    comm.set("gc_reproducible", "on");
    EXPECT_FALSE(goes_over_tree(comm, long_count, true));
}

/// Only the host can pack, so vectors that are short enough go there.
TEST(DevicePlaces, ShortVectorsAreEncodedByTheHost) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is encoded";
    comm.set("gc_codec", "int8+zstd");
    comm.set("gc_compress_if", "always");
    comm.set("gc_device_min_bytes", "4K");
    for (const bool all : {true, false})
        for (const int count : {short_count, long_count}) {
            const bool on_device = all || comm.rank() % 2 == 0;
            const std::vector<float> input = input_of(comm.rank(), count);
            std::vector<float> expected(input.size());
            Buffer send(on_device, input), receive(on_device, input);
            const int code =
                GC_Allreduce(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM, comm);
            if (count == long_count) {
                EXPECT_NE(code, MPI_SUCCESS);
                continue;
            }
            ASSERT_EQ(code, MPI_SUCCESS) << error_text(code);
            ASSERT_EQ(GC_Allreduce(input.data(), expected.data(), count, MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
            EXPECT_TRUE(receive.content() == Buffer::bytes_of(expected));
        }
}

/// This holds for a compressed call, too, in which all ranks ask each other.
TEST(DevicePlaces, AWrongBufferIsAnErrorOfAllRanksWhereverVectorsAre) {
    for (const char* codec : {"exact", "2:4"}) {
        const OwnComm comm;
        comm.set("gc_codec", codec);
        comm.set("gc_device_min_bytes", "4K");
        comm.set("gc_compress_if", "always");
        comm.set("gc_compress_bytes", "0");
        const std::vector<float> input = whole_numbers(comm.rank(), long_count);
        for (int time = 0; time < 3; ++time) {
            Buffer send(true, input), receive(true, input);
            const bool wrong = comm.rank() == comm.size() - 1;
            EXPECT_NE(GC_Allreduce(send.data(), wrong ? nullptr : receive.data(), long_count,
                                   MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS)
                << codec;
            EXPECT_EQ(
                GC_Allreduce(send.data(), receive.data(), long_count, MPI_FLOAT, MPI_SUM, comm),
                MPI_SUCCESS)
                << codec;
        }
    }
}

TEST(DevicePlaces, CallsThatDifferAreErrorsOfAllRanks) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "there is nobody to differ from";
    comm.set("gc_device_min_bytes", "4K");
    for (int time = 0; time < 3; ++time) {
        const int count = long_count + (comm.rank() == 0 ? time - 1 : 0);
        const std::vector<float> input = whole_numbers(comm.rank(), count);
        Buffer send(true, input), receive(true, input);
        const int code = GC_Allreduce(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM, comm);
        EXPECT_EQ(code == MPI_SUCCESS, time == 1) << error_text(code);
    }
    EXPECT_TRUE(goes_over_tree(comm, long_count, true));
}

}  // namespace
}  // namespace gradcoll::test
