// libgradcoll_cuda.so on any machine: it loads without a driver, fits this build, and says why it
// is of no use where it is not.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "device/devices.hpp"

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

/// Returns what the driver calls this thread's context.
void* current_context() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto get = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
    void* context = nullptr;
    EXPECT_EQ(get(&context), 0);
    return context;
}

void use(Device& device) {
    const auto memory = device.allocate(1000);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    const auto stream = device.make_stream();
    const auto mark = device.make_mark();
    char bytes[1000] = {};
    EXPECT_TRUE((*stream)->copy(*memory, bytes, sizeof bytes).ok());
    EXPECT_TRUE((*stream)->record(**mark).ok());
    EXPECT_TRUE((*mark)->passed().ok());
    device.release(*memory);
}

TEST(CudaPlugin, AThreadThatUsesNoDeviceStillUsesNoneAfterItsCalls) {
    Devices devices(GRADCOLL_CUDA_PLUGIN);
    const DevicePlugin* plugin = devices.look_for_plugin();
    if (plugin == nullptr) GTEST_SKIP() << devices.why_inactive();
    std::thread([&] {
        for (int number = 0; number < plugin->device_count(); ++number) {
            use(**plugin->device(number));
            EXPECT_EQ(current_context(), nullptr);
        }
    }).join();
}

}  // namespace
}  // namespace gradcoll
