// transport/device_ipc/mapping.hpp - a peer's allocation, mapped into this process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "memory/device.hpp"

namespace gradcoll {

/// An allocation of a process, as that process sees it.
struct AllocationOrigin {
    std::int64_t process = 0;
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t id = 0;
    friend bool operator==(const AllocationOrigin&, const AllocationOrigin&) = default;
};

/// One mapping for all who use the same allocation through the same device. Closed when the last of
/// them lets go, or when something else turns out to lie at its address in its process: then it
/// was released there, and nobody will refer to it again. Immutable but for that.
class PeerMapping {
  public:
    PeerMapping(const PeerMapping&) = delete;
    PeerMapping& operator=(const PeerMapping&) = delete;
    ~PeerMapping();

    const AllocationOrigin& origin() const { return origin_; }
    const DeviceHandle& handle() const { return handle_; }
    /// False once it was found released: then there is no base.
    bool is_open() const { return base_.load(std::memory_order_acquire) != nullptr; }
    const std::byte* base() const {
        return static_cast<const std::byte*>(base_.load(std::memory_order_acquire));
    }
    std::size_t size_bytes() const { return size_bytes_; }

    /// Finds or makes it. Takes a lock: keep what it gives. Thread safe. Errors: those of
    /// Device::open.
    static Result<std::shared_ptr<const PeerMapping>> of(Device& device,
                                                         const AllocationOrigin& origin,
                                                         const DeviceHandle& handle);

  private:
    PeerMapping(Device& device, const AllocationOrigin& origin, const DeviceHandle& handle)
        : device_(device), origin_(origin), handle_(handle) {}
    bool is_outdated_by(const AllocationOrigin& origin) const;
    Status open();
    void close();

    Device& device_;
    const AllocationOrigin origin_;
    const DeviceHandle handle_;
    std::atomic<void*> base_{nullptr};
    std::size_t size_bytes_ = 0;  ///< as the device tells; else as the origin does
};

}  // namespace gradcoll
