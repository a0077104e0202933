// Gradients of an engine in memory of a device: the same bits as on host memory, whichever ranks
// have which, whatever sums them.
#include <string>

#include "call/device_support.hpp"
#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

using Bytes = std::vector<std::byte>;

/// This is where one rank has its gradients.
enum class Where { host, device, input_on_device, result_on_device, in_place_on_device };

/// Sums several gradients at a time, short and long, for some steps, and returns the results of the
/// last one.
std::vector<Bytes> summed(GC_Engine engine, MPI_Comm comm, Where where, MPI_Op op = MPI_SUM) {
    const std::vector<int> lengths{300, 20, 0, 100'000, 7};
    std::vector<Bytes> results;
    for (int step = 0; step < 3; ++step) {
        std::vector<std::unique_ptr<Buffer>> inputs, outputs;
        std::vector<GC_Handle> handles(lengths.size(), GC_HANDLE_NULL);
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            const std::vector<float> values = input_of(rank_of(comm) + step, lengths[i]);
            const bool in_place = where == Where::in_place_on_device;
            inputs.push_back(std::make_unique<Buffer>(
                where == Where::device || where == Where::input_on_device, values));
            outputs.push_back(std::make_unique<Buffer>(
                where != Where::host && where != Where::input_on_device,
                in_place ? values : std::vector<float>(values.size(), -7.0F)));
            EXPECT_EQ(GC_Submit(engine, ("layer." + std::to_string(i)).c_str(),
                                in_place ? MPI_IN_PLACE : inputs.back()->data(),
                                outputs.back()->data(), lengths[i], MPI_FLOAT, op, 0, &handles[i]),
                      MPI_SUCCESS);
        }
        EXPECT_EQ(GC_Handle_waitall(static_cast<int>(handles.size()), handles.data()), MPI_SUCCESS);
        results.clear();
        for (const auto& output : outputs) results.push_back(output->content());
    }
    return results;
}

void expect_bits_of_the_host(std::initializer_list<std::pair<const char*, const char*>> settings,
                             MPI_Op op = MPI_SUM) {
    const OwnComm comm;
    std::vector<Bytes> expected;
    {
        const OwnEngine engine(comm, settings);
        expected = summed(engine, comm, Where::host, op);
    }
    for (const Where where : {Where::device, Where::input_on_device, Where::result_on_device,
                              Where::in_place_on_device}) {
        const OwnEngine engine(comm, settings);
        EXPECT_EQ(summed(engine, comm, where, op), expected) << static_cast<int>(where);
    }
    // MPI requires all ranks to be in place, or none.
    const Where places[] = {Where::device, Where::host, Where::input_on_device,
                            Where::result_on_device};
    const OwnEngine mixed(comm, settings);
    EXPECT_EQ(summed(mixed, comm, places[comm.rank() % 4], op), expected);
}

TEST(DeviceEngine, ThroughMemoryOfTheHost) {
    expect_bits_of_the_host({{"gc_reproducible", "on"}});
}

TEST(DeviceEngine, OverATreeOfMessages) {
    expect_bits_of_the_host({{"gc_reproducible", "on"}, {"gc_engine", "ring"}});
}

TEST(DeviceEngine, WithACodecAndFeedback) {
    expect_bits_of_the_host({{"gc_reproducible", "on"},
                             {"gc_engine", "ring"},
                             {"gc_codec", "2:4"},
                             {"gc_compress_bytes", "0"},
                             {"gc_compress_if", "always"}});
}

TEST(DeviceEngine, ByTheMpiLibrary) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(
        [](void* in, void* inout, int* count, MPI_Datatype*) {
            for (int i = 0; i < *count; ++i)
                static_cast<float*>(inout)[i] =
                    std::max(static_cast<float*>(inout)[i], static_cast<float*>(in)[i]);
        },
        1, &op);
    expect_bits_of_the_host({}, op);
    MPI_Op_free(&op);
}

/// The values are whole numbers, so that it does not matter which of them are packed together.
TEST(DeviceEngine, ShortOnesAreRightPacked) {
    const OwnComm comm;
    const OwnEngine engine(comm, {{"gc_engine", "pack=64K"}});
    for (int step = 0; step < 5; ++step) {
        std::vector<std::unique_ptr<Buffer>> buffers;
        std::vector<GC_Handle> handles(50);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            const auto values = values_of(comm.rank(), static_cast<int>(i), i * 7);
            buffers.push_back(std::make_unique<Buffer>(i % 3 != 0, values));
            ASSERT_EQ(GC_Submit(engine, std::to_string(i).c_str(), MPI_IN_PLACE, buffers[i]->data(),
                                static_cast<MPI_Count>(values.size()), MPI_FLOAT, MPI_SUM, 0,
                                &handles[i]),
                      MPI_SUCCESS);
        }
        ASSERT_EQ(GC_Handle_waitall(static_cast<int>(handles.size()), handles.data()), MPI_SUCCESS);
        for (std::size_t i = 0; i < handles.size(); ++i)
            EXPECT_EQ(buffers[i]->content(),
                      Buffer::bytes_of(sum_of(comm.size(), static_cast<int>(i), i * 7)))
                << i;
    }
}

}  // namespace
}  // namespace gradcoll::test
