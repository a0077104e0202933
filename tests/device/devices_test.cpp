// How the plug-in is found, and what is said where there is none.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "device/devices.hpp"

namespace gradcoll {
namespace {

testing::AssertionResult is_inactive(Devices& devices, const std::string& because) {
    int on_stack = 0;
    if (devices.device_of(&on_stack) != host_memory)
        return testing::AssertionFailure() << "host memory is called a device's";
    if (devices.plugin() != nullptr || devices.look_for_plugin() != nullptr ||
        devices.plugin_if_in_use() != nullptr)
        return testing::AssertionFailure() << "there is a plug-in";
    const std::string why = devices.why_inactive();
    if (why.find(because) == std::string::npos)
        return testing::AssertionFailure() << '"' << why << "\" does not say " << because;
    return testing::AssertionSuccess();
}

TEST(Devices, OffIsOff) {
    Devices devices("off");
    EXPECT_TRUE(is_inactive(devices, "GC_DEVICE=off"));
}

TEST(Devices, AutoLooksForNothingBeforeThereIsAReason) {
    Devices devices("auto");
    int on_stack = 0;
    EXPECT_EQ(devices.device_of(&on_stack), host_memory);
    EXPECT_EQ(devices.plugin_if_in_use(), nullptr);
    EXPECT_EQ(devices.plugin(), nullptr);
    const std::string why = devices.why_inactive();
    EXPECT_TRUE(why.find("not looked for") != std::string::npos ||
                why.find("without CUDA") != std::string::npos)
        << why;
}

TEST(Devices, AutoSaysWhyThereIsNoneOnceItWasLookedFor) {
    Devices devices("auto");
    if (devices.look_for_plugin() != nullptr) GTEST_SKIP() << "there is a device";
    EXPECT_FALSE(devices.why_inactive().empty());
    EXPECT_EQ(devices.why_inactive().find("not looked for"), std::string::npos);
}

TEST(Devices, AFileThatIsMissingOrNoLibraryIsNamed) {
    Devices missing("/nonexistent/libplugin.so");
    EXPECT_TRUE(is_inactive(missing, "/nonexistent/libplugin.so"));
    const std::string path = testing::TempDir() + "no_library.so";
    std::ofstream(path) << "text";
    Devices text(path);
    EXPECT_TRUE(is_inactive(text, path));
}

TEST(Devices, ALibraryWithoutTheEntryIsNoPlugin) {
    Devices devices("libm.so.6");
    EXPECT_TRUE(is_inactive(devices, "exports no gradcoll_device_plugin"));
}

TEST(Devices, APluginOfAnotherKindOrBuildIsNotTouchedFurther) {
    for (const auto& [odd, because] : {std::pair("nothing", "offers nothing"),
                                       std::pair("abi", "speaks version 2 of the interface, not 3"),
                                       std::pair("build", "another build: \"some other build\""),
                                       std::pair("incomplete", "is incomplete"),
                                       std::pair("inactive", "no odd device is plugged in")}) {
        setenv("GC_TEST_ODD_PLUGIN", odd, 1);
        Devices devices(GRADCOLL_ODD_PLUGIN);
        EXPECT_TRUE(is_inactive(devices, because)) << odd;
    }
}

TEST(Devices, ANamedPluginIsLoadedAtTheFirstQuestionWhichEveryThreadMayAsk) {
    Devices devices(GRADCOLL_EMULATED_DEVICE);
    EXPECT_EQ(devices.plugin(), nullptr);
    EXPECT_NE(devices.why_inactive().find("not looked for"), std::string::npos);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            int on_stack = 0;
            EXPECT_EQ(devices.device_of(&on_stack), host_memory);
            EXPECT_NE(devices.plugin(), nullptr);
        });
    for (std::thread& thread : threads) thread.join();
    ASSERT_NE(devices.plugin(), nullptr);
    EXPECT_STREQ(devices.plugin()->name, "emulated");
    EXPECT_EQ(devices.plugin_if_in_use(), devices.plugin());
    EXPECT_EQ(devices.why_inactive(), "");
}

TEST(Devices, TheProcessHasOneSide) {
    EXPECT_EQ(&Devices::of_process(), &Devices::of_process());
}

}  // namespace
}  // namespace gradcoll
