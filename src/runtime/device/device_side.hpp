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

/// DeviceSide is one device with three streams, so that kernels, copies out and copies in go on at
/// the same time, and with what the ranks of this host share of their devices. It must outlive its
/// executors. Operations of several threads share it: whoever uses streams, peers or waits holds
/// lock() meanwhile; executors do so themselves.
class DeviceSide {
  public:
    /// Ways tells how device memory gets to other ranks other than through the host's.
    struct Ways {
        /// Each entry says whether the device memory of that rank of the communicator is read in
        /// place (peers_that_share()). If it is empty, nobody's is.
        std::vector<bool> shares;
        bool mpi_takes_it = false;  ///< whether the MPI library sends from it and receives to it
    };
    /// Errors: those of Device.
    static Result<std::shared_ptr<DeviceSide>> make(const DevicePlugin& plugin, int number,
                                                    Ways ways);

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    const DevicePlugin& plugin() const { return plugin_; }
    Device& device() { return device_; }
    int number() const { return number_; }
    DeviceStream& work() { return *work_; }  ///< for kernels
    DeviceStream& out() { return *out_; }    ///< for copies from the device to the host
    DeviceStream& in() {
        return *in_;
    }  ///< for copies to the device, from the host or a peer's device

    bool shares_with(int rank) const {
        const auto index = static_cast<std::size_t>(rank);
        return index < ways_.shares.size() && ways_.shares[index];
    }
    /// Sets what is learnt only after copies by way of the host had been made here, and before any
    /// operation.
    void set_shares(const std::vector<bool>& shares) { ways_.shares = shares; }
    bool mpi_takes_device_memory() const { return ways_.mpi_takes_it; }
    PeerDeviceMemory& peers() { return peers_; }

    /// Makes operations begin after what this stream has been given by then; null stands for the
    /// device's default stream. Errors: those of Device::adopt_stream.
    Status set_user_stream(void* native);
    /// Makes later work wait for what the user's stream has been given so far.
    Status follow_user();
    /// Waits, with yields, until the work stream has done all it was given. Errors: transport.
    Status finish_work();
    /// Returns pinned memory of the host for whole vectors, which is kept for later calls. Errors:
    /// out_of_memory.
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

/// Copies between memory of the device and the host's, either way, and waits for it.
Status copy_and_finish(DeviceSide& side, void* to, const void* from, std::size_t size_bytes);

}  // namespace gradcoll
