// Asking where a pointer is, as every call does: no lock, no allocation, no system call.
#include <dlfcn.h>

#include "device/contract.hpp"
#include "support/watched_calls.hpp"

namespace gradcoll::test {
namespace {

using WarmDevice = DeviceTest;

int in_this_program = 0;

/// Returns what this program does in 100 questions for each of two pointers.
std::vector<SeenCall> seen_while_asking(Devices& devices, const void* first, const void* second) {
    watch_calls_of(&in_this_program, dlsym(RTLD_DEFAULT, "qsort"));
    watch_system_calls();
    int sum = devices.device_of(first) + devices.device_of(second);
    start_watching();
    for (int i = 0; i < 100; ++i) sum += devices.device_of(first) - devices.device_of(second);
    const std::vector<SeenCall> seen = stop_watching();
    in_this_program = sum;
    return seen;
}

TEST_F(WarmDevice, IsAskedAtNoCost) {
    const DeviceBuffer buffer(*device_, 1000);
    const auto seen = seen_while_asking(Devices::of_process(), buffer.data(), &in_this_program);
    EXPECT_TRUE(seen.empty()) << text_of(seen);
}

TEST(WarmDevices, CostNothingWhereThereAreNone) {
    for (const char* setting : {"off", "auto", "/nonexistent/plugin.so"}) {
        Devices devices(setting);
        const auto seen = seen_while_asking(devices, &in_this_program, nullptr);
        EXPECT_TRUE(seen.empty()) << setting << '\n' << text_of(seen);
    }
}

}  // namespace
}  // namespace gradcoll::test
