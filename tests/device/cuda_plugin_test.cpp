// libgradcoll_cuda.so on any machine: it loads without a driver, fits this build, and says why it
// is of no use where it is not.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "device/plugin.hpp"

namespace gradcoll {
namespace {

const DevicePlugin* loaded() {
    void* library = dlopen(GRADCOLL_CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    if (library == nullptr) return nullptr;
    const auto entry = reinterpret_cast<DevicePluginEntry>(dlsym(library, device_plugin_entry));
    EXPECT_NE(entry, nullptr);
    return entry != nullptr ? entry() : nullptr;
}

TEST(CudaPlugin, LoadsWithoutADriverAndBelongsToThisBuild) {
    const DevicePlugin* plugin = loaded();
    ASSERT_NE(plugin, nullptr);
    EXPECT_EQ(plugin->abi, device_plugin_abi);
    EXPECT_STREQ(plugin->build, device_plugin_build());
    EXPECT_STREQ(plugin->name, "CUDA");
}

TEST(CudaPlugin, StartsOrSaysWhyNot) {
    const DevicePlugin* plugin = loaded();
    ASSERT_NE(plugin, nullptr);
    Devices devices(GRADCOLL_CUDA_PLUGIN);
    if (devices.look_for_plugin() != nullptr) {
        EXPECT_GT(plugin->device_count(), 0);
        return;
    }
    const std::string why = devices.why_inactive();
    EXPECT_TRUE(why.starts_with("no CUDA driver") || why.starts_with("driver too old") ||
                why.starts_with("no CUDA device"))
        << why;
    EXPECT_EQ(plugin->device_count(), 0);
    EXPECT_FALSE(plugin->device(0).ok());
}

}  // namespace
}  // namespace gradcoll
