// What the emulated device adds to the contract, so that tests on it find what would fail on a GPU.
#include "device/contract.hpp"

namespace gradcoll::test {
namespace {

using EmulatedDevice = DeviceTest;
using EmulatedDeviceDeathTest = DeviceTest;

TEST_F(EmulatedDeviceDeathTest, TheCpuCrashesWhereItTouchesDeviceMemory) {
    const DeviceBuffer buffer(*device_, 100);
    EXPECT_DEATH(static_cast<volatile std::byte*>(buffer.data())[5] = std::byte{1}, "");
    EXPECT_DEATH(
        [[maybe_unused]] const std::byte read = static_cast<volatile std::byte*>(buffer.data())[5],
        "");
}

TEST_F(EmulatedDevice, CopiesBeyondAnAllocationAreRefused) {
    const DeviceBuffer buffer(*device_, 100);
    std::byte bytes[101]{};
    EXPECT_EQ(stream_->copy(buffer.data(), bytes, 101).code(), Code::transport);
    EXPECT_EQ(stream_->copy(bytes, buffer.data() + 100, 1).code(), Code::transport);
    EXPECT_TRUE(succeeds(stream_->copy(bytes, buffer.data() + 99, 1)));
    finish(*stream_);
}

TEST_F(EmulatedDevice, KernelsReachPinnedButNoOtherHostMemory) {
    float values[16]{};
    const DeviceBuffer pinned(*device_, sizeof values, DeviceBuffer::Kind::pinned);
    const DeviceBuffer buffer(*device_, sizeof values);
    const ReduceLaunch call{ReduceOp::sum, ElementType::f32, stream_->native()};
    const ReduceJob good{buffer.data(), pinned.data(), buffer.data(), 16};
    const ReduceJob bad{buffer.data(), values, buffer.data(), 16};
    EXPECT_TRUE(succeeds(plugin_->launch_reduce(call, {&good, 1})));
    EXPECT_EQ(plugin_->launch_reduce(call, {&bad, 1}).code(), Code::transport);
}

TEST_F(EmulatedDevice, EveryDeviceKnowsItsOwnMemoryAlone) {
    ASSERT_EQ(plugin_->device_count(), 2);
    ASSERT_EQ(number_, 1);
    Device& other = **plugin_->device(0);
    const DeviceBuffer here(*device_, 100), there(other, 100);
    EXPECT_EQ(plugin_->device_of(here.data()), 1);
    EXPECT_EQ(plugin_->device_of(there.data()), 0);
    EXPECT_EQ(other.allocation_of(here.data()).status().code(), Code::invalid_buffer);
}

TEST_F(EmulatedDevice, DevicesOfOneProcessOpenEachOthersMemory) {
    Device& other = **plugin_->device(0);
    const DeviceBuffer buffer(*device_, 100);
    fill(buffer.data(), pattern(100));
    const auto handle = device_->share(*device_->allocation_of(buffer.data()));
    ASSERT_TRUE(succeeds(handle.status()));
    const auto opened = other.open(*handle);
    ASSERT_TRUE(succeeds(opened.status()));
    EXPECT_EQ(plugin_->device_of(*opened), 0);
    EXPECT_EQ(content(static_cast<std::byte*>(*opened), 100), pattern(100));
    other.close(*opened);
}

}  // namespace
}  // namespace gradcoll::test
