// The plans of all communicators share scratch memory.
#include <cstdio>

#include "api/api_support.hpp"
#include "attach/attachments.hpp"

namespace gradcoll::test {
namespace {

std::size_t held_bytes(MPI_Comm comm) {
    return context_of(comm).value()->plans().scratch().held_bytes();
}

/// Reduces vectors in which few values are not zero, so that no codec drops one.
void reduce(const OwnComm& comm, std::size_t bytes) {
    std::vector<float> in(bytes / sizeof(float)), expected(in.size()), out(in.size());
    for (std::size_t i = 0; i < in.size(); i += 16) {
        in[i] = 1.0F;
        expected[i] = static_cast<float>(comm.size());
    }
    ASSERT_EQ(
        GC_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_FLOAT, MPI_SUM, comm),
        MPI_SUCCESS);
    EXPECT_EQ(out, expected);
}

constexpr std::size_t sizes = 20;
/// Returns one of twenty sizes from 4 KiB to 4 MiB, about four to a power of four.
std::size_t size_of_step(std::size_t step) {
    return static_cast<std::size_t>(4096 * std::pow(1024.0, static_cast<double>(step) / 19)) / 4 *
           4;
}

/// This holds whether the sizes have one communicator or each its own.
TEST(Scratch, TwentySizesOneAfterAnotherHoldWhatTheLargestNeeds) {
    const std::string tree = trees_for(size_of(MPI_COMM_WORLD)).back();
    for (const char* codec : {"exact", "2:4"}) {
        const OwnComm comm(tree);
        comm.set("gc_codec", codec);
        reduce(comm, size_of_step(sizes - 1));
        const std::size_t largest = held_bytes(comm);
        ASSERT_GT(largest, 0U);
        comm.set("gc_codec", codec);
        ASSERT_EQ(held_bytes(comm), 0U);
        std::vector<std::unique_ptr<OwnComm>> own;
        for (std::size_t step = 0; step < sizes; ++step) {
            own.push_back(std::make_unique<OwnComm>(tree));
            own.back()->set("gc_codec", codec);
        }
        for (std::size_t step = 0; step < sizes; ++step) {
            reduce(*own[step], size_of_step(step));
            reduce(comm, size_of_step(step));
        }
        EXPECT_EQ(held_bytes(comm), largest) << codec;
        for (std::size_t step = 0; step < sizes; ++step) reduce(comm, size_of_step(step));
        EXPECT_EQ(held_bytes(comm), largest) << codec;
    }
}

TEST(Scratch, ChangedSettingsFreeIt) {
    const OwnComm comm("flat");
    reduce(comm, 1 << 20);
    comm.set("gc_codec", "bf16");
    EXPECT_EQ(held_bytes(comm), 0U);
}

TEST(Scratch, RequestsThatOverlapHaveTheirOwn) {
    const OwnComm comm("flat");
    reduce(comm, 1 << 20);
    const std::size_t of_one = held_bytes(comm);
    constexpr std::size_t count = (1 << 20) / sizeof(float);
    std::vector<std::vector<float>> values(3, std::vector<float>(count, 1.0F));
    std::vector<GC_Request> requests(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, values[i].data(), count, MPI_FLOAT, MPI_SUM, comm,
                                    MPI_INFO_NULL, &requests[i]),
                  MPI_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        for (auto& vector : values) vector.assign(count, 1.0F);
        ASSERT_EQ(GC_Startall(3, requests.data()), MPI_SUCCESS);
        ASSERT_EQ(GC_Waitall(3, requests.data()), MPI_SUCCESS);
        for (const auto& vector : values)
            EXPECT_EQ(vector, std::vector<float>(count, static_cast<float>(comm.size())));
        EXPECT_LE(held_bytes(comm), 3 * of_one);
    }
    for (GC_Request& request : requests) GC_Request_free(&request);
}

}  // namespace
}  // namespace gradcoll::test
