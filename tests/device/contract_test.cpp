// What every Device keeps of its promise (memory/device.hpp): memory, streams, marks, and sharing
// with another process. Started with --read HANDLE SIZE it is that other process.
#include <sys/wait.h>
#include <unistd.h>

#include "device/contract.hpp"

namespace gradcoll::test {
namespace {

using DeviceMemory = DeviceTest;
using DeviceStreams = DeviceTest;
using DeviceSharing = DeviceTest;

TEST_F(DeviceMemory, OnlyMemoryOfDevicesIsCalledSo) {
    int on_stack = 0;
    const std::vector<int> on_heap(10);
    const DeviceBuffer pinned(*device_, 4096, DeviceBuffer::Kind::pinned);
    const DeviceBuffer buffer(*device_, 5000);
    EXPECT_EQ(plugin_->device_of(buffer.data()), number_);
    EXPECT_EQ(plugin_->device_of(buffer.data() + 4999), number_);
    EXPECT_EQ(Devices::of_process().device_of(buffer.data() + 1), number_);
    for (const void* pointer :
         {static_cast<const void*>(&on_stack), static_cast<const void*>(on_heap.data()),
          static_cast<const void*>(pinned.data()), static_cast<const void*>(nullptr)})
        EXPECT_EQ(plugin_->device_of(pointer), host_memory);
}

TEST_F(DeviceMemory, ReleasedMemoryIsNoDevicesAnyMore) {
    const Result<void*> memory = device_->allocate(std::size_t{64} << 20);
    ASSERT_TRUE(succeeds(memory.status()));
    device_->release(*memory);
    EXPECT_EQ(plugin_->device_of(*memory), host_memory);
}

TEST_F(DeviceMemory, EveryAllocationHasBaseSizeAndAnIdThatNeverComesAgain) {
    const DeviceBuffer first(*device_, 3000);
    const auto around = device_->allocation_of(first.data() + 2999);
    ASSERT_TRUE(succeeds(around.status()));
    EXPECT_EQ(around->base, first.data());
    EXPECT_GE(around->size_bytes, 3000U);
    std::uint64_t last = around->id;
    for (int i = 0; i < 3; ++i) {  // the address may come again
        const DeviceBuffer next(*device_, 3000);
        const auto allocation = device_->allocation_of(next.data());
        ASSERT_TRUE(succeeds(allocation.status()));
        EXPECT_NE(allocation->id, last);
        EXPECT_NE(allocation->id, 0U);
        last = allocation->id;
    }
}

TEST_F(DeviceMemory, AllocationsOfHostMemoryAreRefused) {
    int on_stack = 0;
    EXPECT_EQ(device_->allocation_of(&on_stack).status().code(), Code::invalid_buffer);
    EXPECT_EQ(device_->allocation_of(nullptr).status().code(), Code::invalid_buffer);
}

TEST_F(DeviceMemory, TooMuchIsOutOfMemoryAndNamesTheBytes) {
    constexpr std::size_t too_much = std::size_t{1} << 58;
    for (const Status& status :
         {device_->allocate(too_much).status(), device_->allocate_pinned(too_much).status()}) {
        EXPECT_EQ(status.code(), Code::out_of_memory);
        EXPECT_NE(status.message().find(std::to_string(too_much)), std::string::npos)
            << status.message();
    }
    const DeviceBuffer works(*device_, 100);  // as before
    fill(works.data(), pattern(100));
}

TEST_F(DeviceMemory, NothingIsReleasedWithoutHarm) {
    device_->release(nullptr);
    device_->release_pinned(nullptr);
}

TEST_F(DeviceMemory, PlacesOfDevicesDiffer) {
    for (int i = 0; i < plugin_->device_count(); ++i) {
        const auto device = plugin_->device(i);
        ASSERT_TRUE(succeeds(device.status()));
        const DevicePlace& place = (*device)->place();
        EXPECT_FALSE(place.name.empty());
        EXPECT_EQ(place.bus_id.size(), std::strlen("0000:3b:00.0")) << place.bus_id;
        for (int j = 0; j < i; ++j)
            EXPECT_NE((*plugin_->device(j))->place().uuid, place.uuid) << i << " and " << j;
    }
    EXPECT_FALSE(plugin_->device(-1).ok());
    EXPECT_FALSE(plugin_->device(plugin_->device_count()).ok());
}

TEST_F(DeviceStreams, CopiesMoveBytesBothWaysAndBetweenPlacesOfTheDevice) {
    const DeviceBuffer here(*device_, 70001), there(*device_, 70001);
    const auto bytes = pattern(70001);
    fill(here.data(), bytes);
    ASSERT_TRUE(succeeds(stream_->copy(there.data() + 3, here.data() + 1, 69998)));
    ASSERT_TRUE(succeeds(stream_->copy(there.data(), here.data(), 0)));
    const auto got = content(there.data() + 3, 69998);
    EXPECT_EQ(0, std::memcmp(got.data(), bytes.data() + 1, got.size()));
}

TEST_F(DeviceStreams, PageableHostMemoryIsCopiedToo) {
    const DeviceBuffer buffer(*device_, 1000);
    const auto bytes = pattern(1000);
    std::vector<std::byte> back(1000);
    ASSERT_TRUE(succeeds(stream_->copy(buffer.data(), bytes.data(), 1000)));
    ASSERT_TRUE(succeeds(stream_->copy(back.data(), buffer.data(), 1000)));
    finish(*stream_);
    EXPECT_EQ(back, bytes);
}

TEST_F(DeviceStreams, OneStreamWorksInOrder) {
    constexpr std::size_t size = 100000;
    const DeviceBuffer a(*device_, size), b(*device_, size);
    const DeviceBuffer sources(*device_, 20 * size, DeviceBuffer::Kind::pinned);
    for (unsigned i = 0; i < 20; ++i) {
        const auto bytes = pattern(size, i);
        std::memcpy(sources.data() + i * size, bytes.data(), size);
        ASSERT_TRUE(succeeds(stream_->copy(a.data(), sources.data() + i * size, size)));
        ASSERT_TRUE(succeeds(stream_->copy(b.data(), a.data(), size)));
    }
    EXPECT_EQ(content(b.data(), size), pattern(size, 19));
}

TEST_F(DeviceStreams, AMarkThatWasNeverRecordedHasPassed) {
    const auto mark = make_mark();
    EXPECT_TRUE(*mark->passed());
    EXPECT_TRUE(succeeds(stream_->wait_for(*mark)));
    finish(*stream_);
}

TEST_F(DeviceStreams, AMarkPassesAfterTheWorkBeforeItAgainAndAgain) {
    constexpr std::size_t size = 1 << 20;
    const DeviceBuffer buffer(*device_, size);
    const DeviceBuffer from(*device_, size, DeviceBuffer::Kind::pinned);
    const DeviceBuffer back(*device_, size, DeviceBuffer::Kind::pinned);
    const auto mark = make_mark();
    for (unsigned i = 0; i < 10; ++i) {
        const auto bytes = pattern(size, i);
        std::memcpy(from.data(), bytes.data(), size);
        ASSERT_TRUE(succeeds(stream_->copy(buffer.data(), from.data(), size)));
        ASSERT_TRUE(succeeds(stream_->copy(back.data(), buffer.data(), size)));
        ASSERT_TRUE(succeeds(stream_->record(*mark)));
        ASSERT_TRUE(passes(*mark));
        ASSERT_EQ(0, std::memcmp(back.data(), bytes.data(), size)) << i;
    }
}

TEST_F(DeviceStreams, AStreamWaitsForTheMarkOfAnother) {
    constexpr std::size_t size = 1 << 20;
    const auto other = make_stream();
    const auto there = make_mark(), read = make_mark();
    const DeviceBuffer buffer(*device_, size);
    const DeviceBuffer sources(*device_, 10 * size, DeviceBuffer::Kind::pinned);
    const DeviceBuffer backs(*device_, 10 * size, DeviceBuffer::Kind::pinned);
    for (unsigned i = 0; i < 10; ++i) {
        const auto bytes = pattern(size, i);
        std::memcpy(sources.data() + i * size, bytes.data(), size);
    }
    for (unsigned i = 0; i < 10; ++i) {  // the host waits for nothing
        ASSERT_TRUE(succeeds(stream_->wait_for(*read)));
        ASSERT_TRUE(succeeds(stream_->copy(buffer.data(), sources.data() + i * size, size)));
        ASSERT_TRUE(succeeds(stream_->record(*there)));
        ASSERT_TRUE(succeeds(other->wait_for(*there)));
        ASSERT_TRUE(succeeds(other->copy(backs.data() + i * size, buffer.data(), size)));
        ASSERT_TRUE(succeeds(other->record(*read)));
    }
    finish(*other);
    EXPECT_EQ(0, std::memcmp(backs.data(), sources.data(), 10 * size));
}

TEST_F(DeviceStreams, AnAdoptedStreamIsTheSameStream) {
    constexpr std::size_t size = 1 << 20;
    auto adopted = device_->adopt_stream(stream_->native());
    ASSERT_TRUE(succeeds(adopted.status()));
    EXPECT_EQ((*adopted)->native(), stream_->native());
    const DeviceBuffer buffer(*device_, size);
    const DeviceBuffer from(*device_, size, DeviceBuffer::Kind::pinned);
    const DeviceBuffer back(*device_, size, DeviceBuffer::Kind::pinned);
    const auto bytes = pattern(size);
    std::memcpy(from.data(), bytes.data(), size);
    ASSERT_TRUE(succeeds(stream_->copy(buffer.data(), from.data(), size)));
    ASSERT_TRUE(succeeds((*adopted)->copy(back.data(), buffer.data(), size)));
    finish(**adopted);
    EXPECT_EQ(0, std::memcmp(back.data(), bytes.data(), size));
    adopted->reset();  // ... and it still lives when it is no longer adopted
    fill(buffer.data(), bytes);
}

TEST_F(DeviceStreams, TheDefaultStreamIsAdoptedByItsNull) {
    const auto adopted = device_->adopt_stream(nullptr);
    ASSERT_TRUE(succeeds(adopted.status()));
    const DeviceBuffer buffer(*device_, 1000);
    const auto bytes = pattern(1000);
    ASSERT_TRUE(succeeds((*adopted)->copy(buffer.data(), bytes.data(), 1000)));
    finish(**adopted);
    EXPECT_EQ(content(buffer.data(), 1000), bytes);
}

TEST_F(DeviceStreams, StreamsAndMarksMayGoBeforeTheirWork) {
    constexpr std::size_t size = 1 << 22;
    const DeviceBuffer buffer(*device_, size);
    const DeviceBuffer from(*device_, size, DeviceBuffer::Kind::pinned);
    const auto bytes = pattern(size);
    std::memcpy(from.data(), bytes.data(), size);
    {
        const auto going = make_stream();
        const auto mark = make_mark();
        ASSERT_TRUE(succeeds(going->copy(buffer.data(), from.data(), size)));
        ASSERT_TRUE(succeeds(going->record(*mark)));
        ASSERT_TRUE(succeeds(stream_->wait_for(*mark)));
    }
    EXPECT_EQ(content(buffer.data(), size), bytes);
}

TEST_F(DeviceStreams, ThreadsUseOneDeviceEachWithAStreamOfItsOwn) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (unsigned i = 0; i < 5; ++i) {
                const auto bytes = pattern(50000, 10 * t + i);
                std::vector<std::byte> back(bytes.size());
                const DeviceBuffer buffer(*device_, bytes.size());
                const auto stream = make_stream();
                EXPECT_TRUE(succeeds(stream->copy(buffer.data(), bytes.data(), bytes.size())));
                EXPECT_TRUE(succeeds(stream->copy(back.data(), buffer.data(), bytes.size())));
                finish(*stream);
                EXPECT_EQ(back, bytes);
            }
        });
    for (std::thread& thread : threads) thread.join();
}

/// A reader that cannot open any memory, which some systems forbid, has this exit status.
constexpr int not_opened_here = 77;

std::string hex_of(const DeviceHandle& handle) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : handle.bytes) {
        text += digits[std::to_integer<int>(byte) >> 4];
        text += digits[std::to_integer<int>(byte) & 15];
    }
    return text;
}

/// Runs this program again, as another process that opens the handle, and returns its exit status.
int read_in_another_process(const DeviceHandle& handle, std::size_t size_bytes) {
    const std::string hex = hex_of(handle), size = std::to_string(size_bytes);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "another process", "--read", hex.c_str(), size.c_str(), nullptr);
        _exit(99);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(DeviceSharing, AnotherProcessReadsASharedAllocationAndWritesIntoIt) {
    const DeviceBuffer buffer(*device_, 100000);
    fill(buffer.data(), pattern(100000));
    const auto allocation = device_->allocation_of(buffer.data());
    ASSERT_TRUE(succeeds(allocation.status()));
    const auto handle = device_->share(*allocation);
    if (handle.status().code() == Code::unsupported) GTEST_SKIP() << handle.status().message();
    ASSERT_TRUE(succeeds(handle.status()));
    const int status = read_in_another_process(*handle, 100000);
    if (status == not_opened_here) GTEST_SKIP() << "processes of this system open no memory";
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content(buffer.data(), 100000), pattern(100000, 2));  // what the other one wrote
}

TEST_F(DeviceSharing, ALostOrMadeUpHandleOpensNothing) {
    DeviceHandle handle;
    EXPECT_FALSE(device_->open(handle).ok());
    const auto noise = pattern(handle.bytes.size());
    std::memcpy(handle.bytes.data(), noise.data(), noise.size());
    EXPECT_FALSE(device_->open(handle).ok());
}

std::byte byte_of(const char* hex) {
    return static_cast<std::byte>(std::stoi(std::string(hex, 2), nullptr, 16));
}

/// The Reader is what the other process does: it returns 0 if the bytes are those of pattern(),
/// which it replaces.
class Reader : public DeviceTest {
  public:
    void TestBody() override {}
    int read(const char* hex, std::size_t size_bytes) {
        DeviceHandle handle;
        for (std::size_t i = 0; i < handle.bytes.size(); ++i)
            handle.bytes[i] = byte_of(hex + 2 * i);
        SetUp();
        const auto opened = device_->open(handle);
        if (opened.status().code() == Code::unsupported) return not_opened_here;
        if (!opened.ok()) return 1;
        auto* const bytes = static_cast<std::byte*>(*opened);
        if (plugin_->device_of(bytes + size_bytes - 1) != number_) return 2;
        if (content(bytes, size_bytes) != pattern(size_bytes)) return 3;
        fill(bytes, pattern(size_bytes, 2));
        device_->close(*opened);
        return testing::Test::HasFailure() ? 4 : 0;
    }
};

}  // namespace

int read_as_another_process(const char* hex, const char* size) {
    Reader reader;
    return reader.read(hex, std::stoul(size));
}

}  // namespace gradcoll::test

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc == 4 && std::strcmp(argv[1], "--read") == 0)
        return gradcoll::test::read_as_another_process(argv[2], argv[3]);
    return RUN_ALL_TESTS();
}
