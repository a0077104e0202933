// comm/comm_devices.hpp - the devices that operations of one communicator use.
#pragma once

#include <memory>
#include <vector>

#include "comm/comm_identity.hpp"
#include "runtime/device/device_side.hpp"

namespace gradcoll {

/// The device that the program uses now; null if it uses none.
Device* device_in_use();

/// By the thread that makes calls on the communicator.
class CommDevices {
  public:
    /// Collective: devices that the program uses by now share their memory with the ranks of their
    /// host. Errors: transport; those of DeviceSide.
    Status share(const CommIdentity& comm);

    /// Whether the program of some rank used a device by then: the same on all ranks.
    bool any_in_use() const { return any_in_use_; }

    /// Whether all ranks are on one host, and each reads what any other has on its device: the same
    /// on all ranks.
    bool all_share() const { return all_share_; }
    /// Vectors of so many bytes and more are sooner reduced on devices than by way of the host, as
    /// long as devices take to begin: measured by share(), the same on all ranks.
    std::uint64_t least_bytes() const { return least_bytes_; }
    /// That is never less.
    static constexpr std::uint64_t least_auto_bytes = 128 << 10;

    /// A device as the operations of this communicator use it. Local. Errors: those of DeviceSide.
    Result<std::shared_ptr<DeviceSide>> side(const DevicePlugin& plugin, int number);
    /// What later operations begin after: DeviceSide::set_user_stream. Local.
    Status set_user_stream(void* native);
    /// Reads what ranks of this host have on devices, for ranks whose own data are on the host;
    /// null if none shares any.
    const std::shared_ptr<DeviceSide>& reader() const { return reader_; }

  private:
    Status measure(const CommIdentity& comm);

    bool any_in_use_ = false;
    bool all_share_ = false;
    std::uint64_t least_bytes_ = least_auto_bytes;
    std::vector<bool> shares_;                        ///< by rank: its memory is read in place
    std::vector<std::shared_ptr<DeviceSide>> sides_;  ///< those in use
    std::shared_ptr<DeviceSide> reader_;
    void* user_stream_ = nullptr;
};

}  // namespace gradcoll
