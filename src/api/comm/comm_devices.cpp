#include "api/comm/comm_devices.hpp"

#include <algorithm>

#include "api/edge/mpi_reach.hpp"
#include "device/devices.hpp"
#include "transport/device_ipc/peers_that_share.hpp"

namespace gradcoll {

Device* device_in_use() {
    const DevicePlugin* plugin = Devices::of_process().plugin_if_in_use();
    if (plugin == nullptr) return nullptr;
    const auto current = plugin->device(plugin->current_device());
    return current.ok() ? *current : nullptr;
}

Status CommDevices::share(const CommIdentity& comm) {
    int in_use = device_in_use() != nullptr ? 1 : 0;
    GRADCOLL_TRY(
        from_mpi(PMPI_Allreduce(MPI_IN_PLACE, &in_use, 1, MPI_INT, MPI_LOR, comm.private_comm()),
                 "MPI_Allreduce"));
    any_in_use_ = in_use != 0;
    GRADCOLL_TRY(take(shares_, peers_that_share(comm.private_comm(), device_in_use())));
    if (std::find(shares_.begin(), shares_.end(), true) == shares_.end()) return {};
    const DevicePlugin& plugin = *Devices::of_process().plugin();
    return take(reader_, side(plugin, plugin.current_device()));
}

Result<std::shared_ptr<DeviceSide>> CommDevices::side(const DevicePlugin& plugin, int number) {
    for (const auto& side : sides_)
        if (side->number() == number) return side;
    auto side = DeviceSide::make(plugin, number, {shares_, mpi_takes_memory_of(plugin)});
    if (!side) return side.status();
    GRADCOLL_TRY((*side)->set_user_stream(user_stream_));
    sides_.push_back(*side);
    return side;
}

Status CommDevices::set_user_stream(void* native) {
    for (const auto& side : sides_) GRADCOLL_TRY(side->set_user_stream(native));
    user_stream_ = native;
    return {};
}

}  // namespace gradcoll
