// GC_Allreduce on memory of a device (the emulated one, which the CPU cannot touch): the same bits
// as on host memory, whichever ranks have which.
#include <numeric>

#include "call/device_support.hpp"

namespace gradcoll::test {
namespace {

/// Places says where a rank has its buffers.
struct Places {
    bool send_on_device = true;
    bool receive_on_device = true;
    bool in_place = false;
};

std::vector<std::byte> reduced(MPI_Comm comm, int count, const Places& places,
                               MPI_Op op = MPI_SUM) {
    const std::vector<float> input = input_of(rank_of(comm), count);
    Buffer send(places.send_on_device, input);
    Buffer receive(places.receive_on_device,
                   places.in_place ? input : std::vector<float>(input.size(), -7.0F));
    EXPECT_EQ(GC_Allreduce(places.in_place ? MPI_IN_PLACE : send.data(), receive.data(), count,
                           MPI_FLOAT, op, comm),
              MPI_SUCCESS);
    return receive.content();
}

std::vector<std::byte> reduced_on_host(MPI_Comm comm, int count, MPI_Op op = MPI_SUM) {
    return reduced(comm, count, {false, false, false}, op);
}

/// Returns a communicator without a written tree, whose calls go through the memory of the host,
/// however long, and one with such a tree, whose calls exchange messages on the device, however
/// short.
std::vector<std::unique_ptr<OwnComm>> comms_to_try() {
    std::vector<std::unique_ptr<OwnComm>> comms;
    comms.push_back(std::make_unique<OwnComm>());
    comms.back()->set("gc_device_min_bytes", "1G");
    for (const char* codec : {"exact", "2:4", "bf16", "2:4+int8", "int8/seed=3", "int8/abs=1e-2"})
        for (const std::string& tree : {trees_for(size_of(MPI_COMM_WORLD)).front(),
                                        trees_for(size_of(MPI_COMM_WORLD)).back()}) {
            comms.push_back(std::make_unique<OwnComm>(tree));
            comms.back()->set("gc_codec", codec);
            comms.back()->set("gc_device_min_bytes", "0");
        }
    return comms;
}

constexpr int counts[] = {0, 1, 1000, 70001, 300000};

TEST(DeviceAllreduce, GivesTheBitsOfHostMemory) {
    for (const auto& comm : comms_to_try())
        for (const int count : counts)
            for (const bool in_place : {false, true})
                ASSERT_EQ(reduced(*comm, count, {true, true, in_place}),
                          reduced_on_host(*comm, count))
                    << count;
}

TEST(DeviceAllreduce, EveryOpIsTheOneThatWasAskedFor) {
    for (const auto& comm : comms_to_try())
        for (MPI_Op op : {MPI_MAX, MPI_MIN, MPI_PROD})
            ASSERT_EQ(reduced(*comm, 70001, {true, true, false}, op),
                      reduced_on_host(*comm, 70001, op));
}

/// Returns the content of rank 0.
std::vector<std::byte> of_rank_0(const OwnComm& comm, std::vector<std::byte> content) {
    EXPECT_EQ(MPI_Bcast(content.data(), static_cast<int>(content.size()), MPI_BYTE, 0, comm),
              MPI_SUCCESS);
    return content;
}

TEST(DeviceAllreduce, CodecsWithParametersGiveTheBitsOfHostMemoryOnAllRanks) {
    for (const std::string& tree :
         {trees_for(size_of(MPI_COMM_WORLD)).front(), trees_for(size_of(MPI_COMM_WORLD)).back()}) {
        const OwnComm comm(tree);
        for (const char* codec : {"int8/abs=1e-3", "int8/rel=0.05", "int4/abs=0.1", "int4/rel=0.2",
                                  "int16/abs=1e-5", "int16/rel=1e-3", "int4/seed=9"}) {
            comm.set("gc_codec", codec);
            for (const int count : {1, 5000, 70001}) {
                const auto on_device = reduced(comm, count, {true, true, false});
                ASSERT_EQ(on_device, reduced_on_host(comm, count)) << codec << ' ' << count;
                ASSERT_EQ(on_device, of_rank_0(comm, on_device)) << codec << ' ' << count;
            }
        }
    }
}

TEST(DeviceAllreduce, TakesEachBufferWhereItIs) {
    for (const auto& comm : comms_to_try())
        for (const int count : counts) {
            const auto expected = reduced_on_host(*comm, count);
            const bool odd = comm->rank() % 2 == 1;
            ASSERT_EQ(reduced(*comm, count, {odd, odd, false}), expected) << count;
            ASSERT_EQ(reduced(*comm, count, {odd, !odd, false}), expected) << count;
            ASSERT_EQ(reduced(*comm, count, {false, true, false}), expected) << count;
            ASSERT_EQ(reduced(*comm, count, {!odd, !odd, true}), expected) << count;
        }
}

TEST(DeviceAllreduce, OpsMayFollowEachOtherWhereverVectorsAre) {
    for (const auto& comm : comms_to_try())
        for (MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MAX, MPI_SUM, MPI_MIN})
            for (const bool odd_on_device : {false, true}) {
                const bool on_device = odd_on_device == (comm->rank() % 2 == 1);
                const auto mixed = reduced(*comm, 70001, {on_device, on_device, false}, op);
                ASSERT_EQ(mixed, reduced_on_host(*comm, 70001, op));
            }
}

/// Tries it on one host and on a tree, which has no kernel for the op.
void expect_bits_of_host_memory(MPI_Datatype type, MPI_Op op, int elements) {
    const PlainComm one_host;
    const OwnComm tree("flat");
    for (const MPI_Comm comm : {MPI_Comm(one_host), MPI_Comm(tree)}) {
        const std::vector<float> input = input_of(rank_of(comm), 300);
        Buffer send(true, input), receive(true, std::vector<float>(300, -7.0F));
        std::vector<float> expected(300, -7.0F);
        ASSERT_EQ(GC_Allreduce(input.data(), expected.data(), elements, type, op, comm),
                  MPI_SUCCESS);
        ASSERT_EQ(GC_Allreduce(send.data(), receive.data(), elements, type, op, comm), MPI_SUCCESS);
        EXPECT_EQ(receive.content(), Buffer::bytes_of(expected));
    }
}

TEST(DeviceAllreduce, OtherTypesAndOpsGiveTheBitsOfHostMemory) {
    MPI_Datatype pairs = MPI_DATATYPE_NULL;  // the first two of every three floats
    MPI_Type_vector(1, 2, 3, MPI_FLOAT, &pairs);
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(pairs, 0, 3 * sizeof(float), &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(
        [](void* in, void* out, int* count, MPI_Datatype*) {
            for (int i = 0; i < *count; ++i)
                for (int j = 0; j < 2; ++j)
                    static_cast<float*>(out)[3 * i + j] += static_cast<float*>(in)[3 * i + j];
        },
        1, &op);
    expect_bits_of_host_memory(spaced, op, 100);
    expect_bits_of_host_memory(MPI_C_FLOAT_COMPLEX, MPI_SUM, 150);
    expect_bits_of_host_memory(MPI_C_FLOAT_COMPLEX, MPI_PROD, 150);
    expect_bits_of_host_memory(MPI_2REAL, MPI_MAXLOC, 150);
    MPI_Op_free(&op);
    MPI_Type_free(&spaced);
    MPI_Type_free(&pairs);
}

TEST(DeviceAllreduce, ResidualsFollowTheBuffers) {
    const auto comms = comms_to_try();
    const OwnComm& comm = *comms[3];
    const int count = 50000;
    GC_Residual here = GC_RESIDUAL_NULL, there = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, count, MPI_FLOAT, &here), MPI_SUCCESS);
    ASSERT_EQ(GC_Residual_create(comm, count, MPI_FLOAT, &there), MPI_SUCCESS);
    const std::vector<float> input = input_of(comm.rank(), count);
    for (int step = 0; step < 4; ++step) {
        const bool on_device = step != 2;
        Buffer send(on_device, input), receive(on_device, input);
        std::vector<float> expected(input.size());
        ASSERT_EQ(GC_Allreduce_residual(input.data(), expected.data(), count, MPI_FLOAT, MPI_SUM,
                                        comm, here),
                  MPI_SUCCESS);
        ASSERT_EQ(GC_Allreduce_residual(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM,
                                        comm, there),
                  MPI_SUCCESS);
        ASSERT_EQ(receive.content(), Buffer::bytes_of(expected)) << step;
        ASSERT_EQ(GC_Residual_scale(here, 0.5), MPI_SUCCESS);
        ASSERT_EQ(GC_Residual_scale(there, 0.5), MPI_SUCCESS);
    }
    std::size_t size_bytes = 0;
    ASSERT_EQ(GC_Residual_size(here, &size_bytes), MPI_SUCCESS);
    std::vector<std::byte> saved_here(size_bytes), saved_there(size_bytes);
    ASSERT_EQ(GC_Residual_save(here, saved_here.data(), size_bytes), MPI_SUCCESS);
    ASSERT_EQ(GC_Residual_save(there, saved_there.data(), size_bytes), MPI_SUCCESS);
    EXPECT_EQ(saved_here, saved_there);
    GC_Residual_free(&here);
    GC_Residual_free(&there);
}

TEST(DeviceAllreduce, BeginsAfterWhatTheUsersStreamWasGiven) {
    const auto comms = comms_to_try();
    const int count = 100000;
    for (const auto& comm : comms) {
        auto stream = std::move(device().make_stream()).value();
        ASSERT_EQ(GC_Comm_set_stream(*comm, stream->native()), MPI_SUCCESS);
        Buffer late(true, input_of(comm->rank(), count));
        Buffer send(true, std::vector<float>(static_cast<std::size_t>(count), 99.0F));
        Buffer receive(true, std::vector<float>(static_cast<std::size_t>(count)));
        ASSERT_TRUE(stream->copy(send.data(), late.data(), count * sizeof(float)).ok());
        ASSERT_EQ(GC_Allreduce(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM, *comm),
                  MPI_SUCCESS);
        EXPECT_EQ(receive.content(), reduced_on_host(*comm, count));
        ASSERT_EQ(GC_Comm_set_stream(*comm, nullptr), MPI_SUCCESS);
    }
}

/// This holds for requests that pass, too, as short vectors on the first communicator do.
TEST(DeviceAllreduce, PersistentRequestsReachDevices) {
    for (const auto& comm : comms_to_try())
        for (const int count : {1000, 70001})
            for (const Places& places : {Places{true, true, false}, Places{true, true, true},
                                         Places{false, true, false}}) {
                const std::vector<float> input = input_of(comm->rank(), count);
                Buffer send(places.send_on_device, input), receive(places.receive_on_device, input);
                std::vector<float> expected = input;
                const void* from = places.in_place ? MPI_IN_PLACE : send.data();
                const void* from_host = places.in_place ? MPI_IN_PLACE : input.data();
                GC_Request here = GC_REQUEST_NULL, there = GC_REQUEST_NULL;
                ASSERT_EQ(GC_Allreduce_init(from_host, expected.data(), count, MPI_FLOAT, MPI_SUM,
                                            *comm, MPI_INFO_NULL, &here),
                          MPI_SUCCESS);
                ASSERT_EQ(GC_Allreduce_init(from, receive.data(), count, MPI_FLOAT, MPI_SUM, *comm,
                                            MPI_INFO_NULL, &there),
                          MPI_SUCCESS);
                for (int step = 0; step < 3; ++step) {
                    GC_Request both[] = {here, there};
                    ASSERT_EQ(GC_Startall(2, both), MPI_SUCCESS);
                    ASSERT_EQ(GC_Waitall(2, both), MPI_SUCCESS);
                    ASSERT_EQ(receive.content(), Buffer::bytes_of(expected)) << count << step;
                }
                GC_Request_free(&here);
                GC_Request_free(&there);
            }
}

TEST(DeviceAllreduce, NonblockingCallsReachDevicesOnTheTree) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    for (const auto& comm : comms_to_try()) {
        ASSERT_EQ(GC_Comm_attach(*comm), MPI_SUCCESS);
        const int count = 70001;
        const std::vector<float> input = input_of(comm->rank(), count);
        std::vector<float> expected = input;
        Buffer send(true, input), receive(true, input), other(true, input);
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        const int code = GC_Iallreduce(send.data(), receive.data(), count, MPI_FLOAT, MPI_SUM,
                                       *comm, &requests[0]);
        if (code != MPI_SUCCESS) {
            EXPECT_EQ(class_of(code), MPI_ERR_BUFFER);
            EXPECT_TRUE(level < MPI_THREAD_MULTIPLE || comm->size() == 1);
            EXPECT_NE(error_text(code).find("memory of a device"), std::string::npos);
            continue;
        }
        ASSERT_EQ(GC_Iallreduce(MPI_IN_PLACE, other.data(), count, MPI_FLOAT, MPI_SUM, *comm,
                                &requests[1]),
                  MPI_SUCCESS);
        ASSERT_EQ(GC_Iallreduce(MPI_IN_PLACE, expected.data(), count, MPI_FLOAT, MPI_SUM, *comm,
                                &requests[2]),
                  MPI_SUCCESS);
        ASSERT_EQ(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        EXPECT_TRUE(receive.content() == Buffer::bytes_of(expected));
        EXPECT_TRUE(other.content() == Buffer::bytes_of(expected));
    }
}

/// This holds if some ranks have their vectors on the host, too: no rank waits for the others.
TEST(DeviceAllreduce, CodecsWithoutKernelsAreNamedOnEveryRankWithDeviceMemory) {
    const OwnComm comm("flat");
    if (comm.size() == 1) GTEST_SKIP() << "nothing is encoded";
    for (const char* codec : {"int8+zstd", "bound/abs=0.001"}) {
        comm.set("gc_codec", codec);
        comm.set("gc_compress_if", "always");
        comm.set("gc_device_min_bytes", "0");
        for (const bool on_device : {true, comm.rank() % 2 == 0}) {
            const std::vector<float> input = input_of(comm.rank(), 100000);
            Buffer send(on_device, input), receive(on_device, input);
            const int code =
                GC_Allreduce(send.data(), receive.data(), 100000, MPI_FLOAT, MPI_SUM, comm);
            ASSERT_NE(code, MPI_SUCCESS);
            if (!on_device) continue;
            for (const std::string& part : {std::string(codec), device().place().name})
                EXPECT_NE(error_text(code).find(part), std::string::npos) << error_text(code);
        }
    }
}

TEST(DeviceAllreduce, CallsThatDoNotReachDevicesSaySo) {
    const PlainComm comm;
    Buffer send(true, input_of(comm.rank(), 100));
    std::vector<float> all(100 * static_cast<std::size_t>(comm.size()));
    ASSERT_EQ(class_of(GC_Allgather(send.data(), 100, MPI_FLOAT, all.data(), 100, MPI_FLOAT, comm)),
              MPI_ERR_BUFFER);
    EXPECT_NE(error_text(MPI_ERR_BUFFER).find("memory of a device"), std::string::npos)
        << error_text(MPI_ERR_BUFFER);
}

}  // namespace
}  // namespace gradcoll::test
