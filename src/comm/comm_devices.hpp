// comm/comm_devices.hpp - the devices that operations of one communicator use.
#pragma once

#include <memory>
#include <vector>

#include "comm/comm_identity.hpp"
#include "runtime/device/device_side.hpp"

namespace gradcoll {

/// Returns the device that the program uses now; null if it uses none.
Device* device_in_use();

/// CommDevices is used by the thread that makes calls on the communicator.
class CommDevices {
  public:
    /// Shares the memory of devices that the program uses by now with the ranks of their host.
    /// Collective. Errors: transport; those of DeviceSide.
    Status share(const CommIdentity& comm);

    /// Returns whether the program of some rank used a device by then: the same on all ranks.
    bool any_in_use() const { return any_in_use_; }

    /// Returns whether all ranks are on one host, and each reads what any other has on its device:
    /// the same on all ranks.
    bool all_share() const { return all_share_; }
    /// Returns the size from which on vectors are sooner reduced on devices than by way of the
    /// host, given the time that devices take to begin. share() measures it; it is the same on all
    /// ranks.
    std::uint64_t least_bytes() const { return least_bytes_; }
    /// This is the least value of least_bytes().
    static constexpr std::uint64_t least_auto_bytes = 128 << 10;

    /// Returns a device as the operations of this communicator use it. Local. Errors: those of
    /// DeviceSide.
    Result<std::shared_ptr<DeviceSide>> side(const DevicePlugin& plugin, int number);
    /// Sets the stream that later operations begin after (DeviceSide::set_user_stream). Local.
    Status set_user_stream(void* native);
    /// Reads what ranks of this host have on devices, for ranks whose own data are on the host;
    /// null if none shares any.
    const std::shared_ptr<DeviceSide>& reader() const { return reader_; }

  private:
    Status measure(const CommIdentity& comm);

    bool any_in_use_ = false;
    bool all_share_ = false;
    std::uint64_t least_bytes_ = least_auto_bytes;
    std::vector<bool> shares_;  ///< for each rank, whether its memory is read in place
    std::vector<std::shared_ptr<DeviceSide>> sides_;  ///< the devices in use
    std::shared_ptr<DeviceSide> reader_;
    void* user_stream_ = nullptr;
};

}  // namespace gradcoll
