// MPI_Allreduce of an unchanged program whose vectors are on devices that its MPI library does not
// reach: what is not served passes by copies, and no call passes unseen.
#include <dlfcn.h>

#include "api/interposed/support.hpp"
#include "call/device_support.hpp"

namespace gradcoll::test {
namespace {

constexpr int short_count = 50;

std::vector<float> minus_ones(int count) {
    return std::vector<float>(static_cast<std::size_t>(count), -1.0F);
}

std::vector<std::byte> expected(int count, MPI_Datatype type, int items, MPI_Op op, MPI_Comm comm) {
    const std::vector<float> input = input_of(rank_of(comm), count);
    std::vector<float> output = minus_ones(count);
    EXPECT_EQ(PMPI_Allreduce(input.data(), output.data(), items, type, op, comm), MPI_SUCCESS);
    return Buffer::bytes_of(output);
}

/// Expects a right sum of vectors here and there. The program makes the call if it is left to it.
void expect_sum(MPI_Comm comm, bool send_on_device, bool receive_on_device) {
    Buffer send(send_on_device, input_of(rank_of(comm), short_count));
    Buffer receive(receive_on_device, minus_ones(short_count));
    const Answer answer =
        connected().allreduce(send.data(), receive.data(), short_count, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_EQ(answer.served, send_on_device || receive_on_device);
    const int code = answer.served ? answer.code
                                   : PMPI_Allreduce(send.data(), receive.data(), short_count,
                                                    MPI_FLOAT, MPI_SUM, comm);
    EXPECT_EQ(code, MPI_SUCCESS);
    EXPECT_EQ(receive.content(), expected(short_count, MPI_FLOAT, short_count, MPI_SUM, comm));
}

TEST(InterposedOnDevices, EveryLengthIsOffered) {
    if (dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support") == nullptr)
        GTEST_SKIP() << "an MPI that cannot be asked is trusted until a device is seen";
    EXPECT_EQ(connected().least(GC_CALL_ALLREDUCE), 1);
}

TEST(InterposedOnDevices, ShortVectorsPassByCopies) {
    const PlainComm comm;
    for (int repeat = 0; repeat < 5; ++repeat)
        for (const bool send_on_device : {false, true})
            for (const bool receive_on_device : {false, true})
                expect_sum(comm, send_on_device, receive_on_device);
    EXPECT_FALSE(comm.is_attached());
}

TEST(InterposedOnDevices, RanksMayHaveTheirVectorsInDifferentMemory) {
    const PlainComm comm;
    for (int repeat = 0; repeat < 5; ++repeat) expect_sum(comm, comm.rank() % 2 == 0, false);
}

void larger_of_each(void* in, void* in_and_out, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i)
        static_cast<float*>(in_and_out)[i] =
            std::max(static_cast<float*>(in)[i], static_cast<float*>(in_and_out)[i]);
}

TEST(InterposedOnDevices, TypesAndOpsOfTheProgramPassByCopies) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(larger_of_each, 1, &op);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, 0, &half);
    for (const MPI_Datatype type : {MPI_FLOAT, MPI_Datatype(MPI_INT)}) {
        const MPI_Op with = type == MPI_FLOAT ? op : MPI_BXOR;
        Buffer send(true, input_of(rank_of(half), short_count));
        Buffer receive(true, minus_ones(short_count));
        const Answer answer =
            connected().allreduce(send.data(), receive.data(), short_count, type, with, half);
        const auto right = expected(short_count, type, short_count, with, half);
        ASSERT_TRUE(answer.served);
        EXPECT_EQ(answer.code, MPI_SUCCESS);
        EXPECT_EQ(receive.content(), right);
    }
    MPI_Comm_free(&half);
    MPI_Op_free(&op);
}

TEST(InterposedOnDevices, WhatIsWrongIsForTheMpiLibraryToSay) {
    const PlainComm comm;
    Buffer both(true, input_of(comm.rank(), short_count));
    EXPECT_FALSE(connected()
                     .allreduce(both.data(), both.data(), short_count, MPI_FLOAT, MPI_SUM, comm)
                     .served);
    EXPECT_FALSE(
        connected().allreduce(both.data(), nullptr, short_count, MPI_FLOAT, MPI_SUM, comm).served);
}

TEST(InterposedOnDevices, AnInputThatOverlapsTheOutputIsCopiedOnce) {
    const PlainComm comm;
    const int shift = 10;
    Buffer both(true, input_of(comm.rank(), long_count + shift));
    auto* const output = static_cast<float*>(both.data());
    const Answer answer =
        connected().allreduce(output + shift, output, long_count, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_EQ(answer.code, MPI_SUCCESS);
    std::vector<float> input = input_of(comm.rank(), long_count + shift), sum = input;
    GC_Allreduce(input.data() + shift, sum.data(), long_count, MPI_FLOAT, MPI_SUM, comm);
    EXPECT_TRUE(answer.served);
    EXPECT_EQ(both.content(), Buffer::bytes_of(sum));
}

}  // namespace
}  // namespace gradcoll::test
