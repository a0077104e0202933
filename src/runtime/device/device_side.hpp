// runtime/device/device_side.hpp - one device as the executors of one communicator use it.
#pragma once

#include <memory>
#include <vector>

#include "device/plugin.hpp"
#include "memory/device.hpp"
#include "runtime/device/device_area.hpp"
#include "transport/device_ipc/peer_device_memory.hpp"

namespace gradcoll {

/// Three streams, so that kernels, copies out and copies in go on at the same time, and what the
/// ranks of this host share of their devices. Must outlive its executors. Used by one thread at a
/// time, as the communicator is.
class DeviceSide {
  public:
    /// `shares`, by rank of the communicator: whose device memory is read in place
    /// (peers_that_share()). Errors: those of Device.
    static Result<std::shared_ptr<DeviceSide>> make(const DevicePlugin& plugin, int number,
                                                    std::vector<bool> shares);

    const DevicePlugin& plugin() const { return plugin_; }
    Device& device() { return device_; }
    int number() const { return number_; }
    DeviceStream& work() { return *work_; }  ///< kernels
    DeviceStream& out() { return *out_; }    ///< device to host
    DeviceStream& in() { return *in_; }      ///< host, or a peer's device, to device

    bool shares_with(int rank) const { return shares_[static_cast<std::size_t>(rank)]; }
    PeerDeviceMemory& peers() { return peers_; }

    /// Operations begin after what this stream has been given by then; null: the device's default
    /// stream. Errors: those of Device::adopt_stream.
    Status set_user_stream(void* native);
    /// Later work waits for what the user's stream has been given so far.
    Status follow_user();
    /// Waits, with yields, until the work stream has done all it was given. Errors: transport.
    Status finish_work();
    /// Pinned memory of the host for whole vectors, kept for later calls. Errors: out_of_memory.
    Result<std::byte*> staging(std::size_t size_bytes);

  private:
    DeviceSide(const DevicePlugin& plugin, Device& device, int number, std::vector<bool> shares);

    const DevicePlugin& plugin_;
    Device& device_;
    int number_;
    std::vector<bool> shares_;
    PeerDeviceMemory peers_;
    std::unique_ptr<DeviceStream> work_, out_, in_, user_;
    std::unique_ptr<DeviceMark> mark_;  ///< recorded and used up within one call of ours
    DeviceArea staging_;
};

}  // namespace gradcoll
