// device/ipc/peer_device_memory.hpp - bytes on a device that another process of this host
// reads where they are: references to them, and what they mean.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "memory/device.hpp"

namespace gradcoll {

/// A reference has this many bytes as it travels.
inline constexpr std::size_t reference_bytes = 128;

/// PeerDeviceMemory makes and resolves the references of one device. It keeps a bounded number of
/// handles of own allocations and of mappings of peers'; those used longest ago are let go first.
/// Used by one thread at a time.
class PeerDeviceMemory {
  public:
    explicit PeerDeviceMemory(Device& device);
    /// Lets go of all mappings: no copy from one may be under way.
    ~PeerDeviceMemory();
    PeerDeviceMemory(const PeerDeviceMemory&) = delete;
    PeerDeviceMemory& operator=(const PeerDeviceMemory&) = delete;

    /// Writes a reference to own memory of the device, which stays readable until the peer has said
    /// that it has read it. Errors: invalid_buffer, unsupported (this allocation cannot be shared).
    Status refer(const void* data, std::size_t size_bytes,
                 std::span<std::byte, reference_bytes> out);

    /// Returns where the bytes are that a peer's reference means; valid until `most_mappings` other
    /// allocations were resolved, or one at the same address in its process. The reference is
    /// untrusted; one that is corrupt leaves all as it was. Errors: corrupt (no reference, another
    /// size than expected, bytes outside of the allocation), unsupported (a device that this one
    /// does not reach).
    Result<const void*> resolve(std::span<const std::byte> reference, std::size_t expected_bytes);

    static constexpr std::size_t most_mappings = 64;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
