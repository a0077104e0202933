// runtime/device/device_side.hpp - one device as the executors of one communicator use it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/ipc/peer_device_memory.hpp"
#include "device/plugin.hpp"
#include "memory/device.hpp"
#include "runtime/device/device_area.hpp"

namespace gradcoll {

/// Three streams, so that kernels, copies out and copies in go on at the same time, and what the
/// ranks of this host share of their devices. Must outlive its executors. Operations of several
/// threads share it: whoever uses streams, peers or waits holds lock() meanwhile; executors do so
/// themselves.
class DeviceSide {
  public:
    /// How device memory gets to other ranks but through the host's.
    struct Ways {
        /// By rank of the communicator: whose device memory is read in place (peers_that_share()).
        /// Empty: nobody's.
        std::vector<bool> shares;
        bool mpi_takes_it = false;  ///< the MPI library sends from it and receives to it
    };
    /// Errors: those of Device.
    static Result<std::shared_ptr<DeviceSide>> make(const DevicePlugin& plugin, int number,
                                                    Ways ways);

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    const DevicePlugin& plugin() const { return plugin_; }
    Device& device() { return device_; }
    int number() const { return number_; }
    DeviceStream& work() { return *work_; }  ///< kernels
    DeviceStream& out() { return *out_; }    ///< device to host
    DeviceStream& in() { return *in_; }      ///< host, or a peer's device, to device

    bool shares_with(int rank) const {
        const auto index = static_cast<std::size_t>(rank);
        return index < ways_.shares.size() && ways_.shares[index];
    }
    /// Learnt after copies by way of the host had been made here, and before any operation.
    void set_shares(const std::vector<bool>& shares) { ways_.shares = shares; }
    bool mpi_takes_device_memory() const { return ways_.mpi_takes_it; }
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
    DeviceSide(const DevicePlugin& plugin, Device& device, int number, Ways ways);

    std::mutex mutex_;
    const DevicePlugin& plugin_;
    Device& device_;
    int number_;
    Ways ways_;
    PeerDeviceMemory peers_;
    std::unique_ptr<DeviceStream> work_, out_, in_, user_;
    std::unique_ptr<DeviceMark> mark_;  ///< recorded and used up within one call of ours
    DeviceArea staging_;
};

}  // namespace gradcoll
