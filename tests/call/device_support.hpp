// Buffers in memory of a device (the emulated one, which the CPU cannot touch).
#pragma once

#include <cmath>
#include <memory>

#include "api/api_support.hpp"
#include "support/device_of_plugin.hpp"

namespace gradcoll::test {

/// Buffer is a buffer of one rank, on the host or on the device.
class Buffer {
  public:
    Buffer(bool on_device, const std::vector<float>& values) : host_(bytes_of(values)) {
        if (on_device) device_ = std::make_unique<OnDevice>(host_);
    }
    void* data() { return device_ ? device_->data() : host_.data(); }
    std::vector<std::byte> content() const { return device_ ? device_->content() : host_; }

    static std::vector<std::byte> bytes_of(const std::vector<float>& values) {
        const auto* first = reinterpret_cast<const std::byte*>(values.data());
        return {first, first + values.size() * sizeof(float)};
    }

  private:
    std::vector<std::byte> host_;
    std::unique_ptr<OnDevice> device_;
};

inline std::vector<float> input_of(int rank, int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(rank));
    return values;
}

}  // namespace gradcoll::test
