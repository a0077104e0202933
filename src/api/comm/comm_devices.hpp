// api/comm/comm_devices.hpp - the devices that operations of one communicator use.
#pragma once

#include <memory>
#include <vector>

#include "api/comm/comm_identity.hpp"
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

    /// A device as the operations of this communicator use it. Local. Errors: those of DeviceSide.
    Result<std::shared_ptr<DeviceSide>> side(const DevicePlugin& plugin, int number);
    /// What later operations begin after: DeviceSide::set_user_stream. Local.
    Status set_user_stream(void* native);
    /// Reads what ranks of this host have on devices, for ranks whose own data are on the host;
    /// null if none shares any.
    const std::shared_ptr<DeviceSide>& reader() const { return reader_; }

  private:
    bool any_in_use_ = false;
    std::vector<bool> shares_;                        ///< by rank: its memory is read in place
    std::vector<std::shared_ptr<DeviceSide>> sides_;  ///< those in use
    std::shared_ptr<DeviceSide> reader_;
    void* user_stream_ = nullptr;
};

}  // namespace gradcoll
