// tests/device/contract.hpp - what all tests of any plug-in begin with: the plug-in that GC_DEVICE
// names, its current device, and memory that is filled and read through a stream.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/devices.hpp"

namespace gradcoll::test {

/// Waits at most half a minute for a mark.
inline testing::AssertionResult passes(DeviceMark& mark) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end) {
        const Result<bool> passed = mark.passed();
        if (!passed.ok()) return testing::AssertionFailure() << passed.status().message();
        if (*passed) return testing::AssertionSuccess();
        std::this_thread::yield();
    }
    return testing::AssertionFailure() << "the mark did not pass in 30 s";
}

inline testing::AssertionResult succeeds(const Status& status) {
    return status.ok() ? testing::AssertionSuccess()
                       : testing::AssertionFailure() << status.message();
}

/// A DeviceBuffer is memory of a device, or pinned; it is freed at the end.
class DeviceBuffer {
  public:
    enum class Kind : std::uint8_t { on_device, pinned };

    DeviceBuffer(Device& device, std::size_t size_bytes, Kind kind = Kind::on_device)
        : device_(device), kind_(kind), size_bytes_(size_bytes) {
        const Result<void*> memory =
            kind == Kind::pinned ? device.allocate_pinned(size_bytes) : device.allocate(size_bytes);
        EXPECT_TRUE(succeeds(memory.status()));
        if (memory.ok()) data_ = static_cast<std::byte*>(*memory);
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() {
        if (kind_ == Kind::pinned)
            device_.release_pinned(data_);
        else
            device_.release(data_);
    }

    std::byte* data() const { return data_; }
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    Device& device_;
    Kind kind_;
    std::byte* data_ = nullptr;
    std::size_t size_bytes_;
};

/// A DeviceTest uses the plug-in that GC_DEVICE names. With GC_TEST_DEVICE_MAY_LACK=1 a plug-in
/// that finds no device makes tests skip, else fail.
class DeviceTest : public testing::Test {
  protected:
    void SetUp() override {
        Devices& devices = Devices::of_process();
        plugin_ = devices.look_for_plugin();
        if (plugin_ == nullptr && std::getenv("GC_TEST_DEVICE_MAY_LACK") != nullptr)
            GTEST_SKIP() << devices.why_inactive();
        ASSERT_NE(plugin_, nullptr) << devices.why_inactive();
        number_ = plugin_->current_device();
        const Result<Device*> device = plugin_->device(number_);
        ASSERT_TRUE(succeeds(device.status()));
        device_ = *device;
        stream_ = make_stream();
    }

    std::unique_ptr<DeviceStream> make_stream() {
        Result<std::unique_ptr<DeviceStream>> stream = device_->make_stream();
        EXPECT_TRUE(succeeds(stream.status()));
        return std::move(stream).value();
    }
    std::unique_ptr<DeviceMark> make_mark() {
        Result<std::unique_ptr<DeviceMark>> mark = device_->make_mark();
        EXPECT_TRUE(succeeds(mark.status()));
        return std::move(mark).value();
    }
    void finish(DeviceStream& stream) {
        const auto mark = make_mark();
        ASSERT_TRUE(succeeds(stream.record(*mark)));
        ASSERT_TRUE(passes(*mark));
    }

    /// Returns when the bytes are there.
    void fill(std::byte* to, std::span<const std::byte> bytes) {
        const DeviceBuffer through(*device_, bytes.size(), DeviceBuffer::Kind::pinned);
        if (!bytes.empty()) std::memcpy(through.data(), bytes.data(), bytes.size());
        ASSERT_TRUE(succeeds(stream_->copy(to, through.data(), bytes.size())));
        finish(*stream_);
    }
    std::vector<std::byte> content(const std::byte* from, std::size_t size_bytes) {
        const DeviceBuffer through(*device_, size_bytes, DeviceBuffer::Kind::pinned);
        EXPECT_TRUE(succeeds(stream_->copy(through.data(), from, size_bytes)));
        finish(*stream_);
        return {through.data(), through.data() + size_bytes};
    }

    const DevicePlugin* plugin_ = nullptr;
    int number_ = -1;
    Device* device_ = nullptr;
    std::unique_ptr<DeviceStream> stream_;
};

/// Returns bytes that differ from place to place and from seed to seed.
inline std::vector<std::byte> pattern(std::size_t size_bytes, unsigned seed = 1) {
    std::vector<std::byte> bytes(size_bytes);
    unsigned state = seed * 2654435761u + 1;
    for (std::byte& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

}  // namespace gradcoll::test
