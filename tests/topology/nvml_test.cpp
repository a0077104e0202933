// tests/topology/nvml_test.cpp - what NVIDIA's management library says, with a stand-in that is
// loaded as the real one is.
#include "topology/sources/host/nvml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradcoll {
namespace {

std::string answer_on(const std::string& bus_id) {
    const Result<NvmlGpu> gpu = ask_nvml(bus_id, STAND_IN_NVML);
    if (!gpu.ok()) return gpu.status().message();
    std::string words = fmt::format("PCIe {:.2f}", gpu->pcie_gbytes_per_s);
    for (const GpuLink& link : gpu->links)
        words += fmt::format("; {} {} {:.3f}", link.to_switch ? "switch" : "GPU", link.target,
                             link.gbytes_per_s);
    return words;
}

TEST(Nvml, LinksThatAreUpAreSummedByTarget) {
    EXPECT_EQ(answer_on("0000:3b:00.0"),
              "PCIe 31.51; GPU 0000:d8:00.0 53.124; switch 0000:c4:00.0 26.562");
}

TEST(Nvml, ASwitchMayHaveANameThatIsNoAddress) {
    EXPECT_EQ(answer_on("0000:d8:00.0"),
              "PCIe 0.00; GPU 0000:3b:00.0 53.124; switch ffffffff:ffff:ff 26.562");
}

TEST(Nvml, AGpuWithoutLinksHasNone) {
    EXPECT_EQ(answer_on("0000:5e:00.0"), "PCIe 15.75");
    EXPECT_EQ(answer_on("0000:e0:00.0"), "PCIe 0.00");
}

TEST(Nvml, WhatIsMissingIsSaid) {
    EXPECT_EQ(answer_on("0000:01:00.0"), "NVML on GPU 0000:01:00.0: Not Found");
    const Result<NvmlGpu> none = ask_nvml("0000:3b:00.0", "/nowhere/libnvidia-ml.so.1");
    EXPECT_EQ(none.status().code(), Code::unsupported);
    EXPECT_NE(none.status().message().find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
    const Result<NvmlGpu> other = ask_nvml("0000:3b:00.0", "libpthread.so.0");
    EXPECT_EQ(other.status().message(), "NVML: libpthread.so.0 lacks functions");
}

}  // namespace
}  // namespace gradcoll
