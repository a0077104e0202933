// A plug-in that is wrong in the way that GC_TEST_ODD_PLUGIN says.
#include <cstdlib>
#include <string_view>

#include "device/plugin.hpp"

namespace {

using gradcoll::Code;
using gradcoll::Device;
using gradcoll::Result;
using gradcoll::Status;

gradcoll::DevicePlugin sound() {
    gradcoll::DevicePlugin plugin;
    plugin.abi = gradcoll::device_plugin_abi;
    plugin.build = gradcoll::device_plugin_build();
    plugin.name = "odd";
    plugin.start = [] { return Status(Code::unsupported, "no odd device is plugged in"); };
    plugin.device_count = [] { return 0; };
    plugin.device = [](int) -> Result<Device*> { return Status(Code::unsupported, "no device"); };
    plugin.device_of = [](const void*) { return gradcoll::host_memory; };
    plugin.current_device = [] { return 0; };
    plugin.runs_codec = [](gradcoll::CodecId, const gradcoll::CodecParameters&,
                           gradcoll::ElementType) { return false; };
    plugin.launch_codec = [](const gradcoll::CodecLaunch&, std::span<const gradcoll::CodecJob>) {
        return Status();
    };
    plugin.move_blocks = [](void*, std::span<const gradcoll::BlockMove>) { return Status(); };
    plugin.launch_reduce = [](const gradcoll::ReduceLaunch&, std::span<const gradcoll::ReduceJob>) {
        return Status();
    };
    return plugin;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const gradcoll::DevicePlugin* gradcoll_device_plugin() {
    static gradcoll::DevicePlugin plugin;
    plugin = sound();
    const char* const text = std::getenv("GC_TEST_ODD_PLUGIN");
    const std::string_view odd = text != nullptr ? text : "";
    if (odd == "nothing") return nullptr;
    if (odd == "abi") plugin.abi = gradcoll::device_plugin_abi - 1;
    if (odd == "build") plugin.build = "some other build";
    if (odd == "incomplete") plugin.launch_reduce = nullptr;
    return &plugin;
}
