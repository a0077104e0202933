// libgradcoll_emulated_device.so: a plug-in for devices that are threads, for tests on machines
// without any (docs/devices.md).
#include "device/plugin.hpp"

#include <fmt/format.h>

#include "device.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

Status start() {
    const std::string& why = settings().inactive;
    return why.empty() ? Status() : Status(Code::unsupported, why);
}

int device_count() {
    return settings().count;
}

Result<Device*> device(int number) {
    if (number < 0 || number >= device_count())
        return Status(Code::invalid_argument,
                      fmt::format("device {} is not allowed: 0 to {}", number, device_count() - 1));
    return static_cast<Device*>(&device_of_process(number));
}

int device_of(const void* pointer) {
    return Memory::of_process().device_of(pointer);
}

int current_device() {
    return settings().current;
}

}  // namespace
}  // namespace gradcoll::emulated

extern "C" [[gnu::visibility("default")]] const gradcoll::DevicePlugin* gradcoll_device_plugin() {
    using namespace gradcoll::emulated;
    static const gradcoll::DevicePlugin plugin{gradcoll::device_plugin_abi,
                                               gradcoll::device_plugin_build(),
                                               "emulated",
                                               start,
                                               device_count,
                                               device,
                                               device_of,
                                               current_device,
                                               runs_codec,
                                               launch_codec,
                                               move_blocks,
                                               launch_reduce};
    return &plugin;
}
