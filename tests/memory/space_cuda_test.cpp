// What a program with a CUDA device sees.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <thread>

#include "memory/space.hpp"

namespace gradcoll {
namespace {

class SpaceOfCuda : public testing::Test {
  protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
            GTEST_SKIP() << "no CUDA device";
    }
};

TEST_F(SpaceOfCuda, OnlyMemoryThatTheCpuCannotReadIsDevice) {
    void *on_device = nullptr, *pinned = nullptr, *managed = nullptr;
    ASSERT_EQ(cudaMalloc(&on_device, 4096), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned, 4096), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&managed, 4096), cudaSuccess);
    EXPECT_EQ(space_of(on_device), MemorySpace::device);
    EXPECT_EQ(space_of(static_cast<char*>(on_device) + 4095), MemorySpace::device);
    EXPECT_EQ(space_of(pinned), MemorySpace::host);
    EXPECT_EQ(space_of(managed), MemorySpace::host);
    EXPECT_EQ(space_of(&on_device), MemorySpace::host);
    cudaFree(on_device);
    cudaFreeHost(pinned);
    cudaFree(managed);
}

TEST_F(SpaceOfCuda, AThreadThatNeverUsedCudaSeesTheSame) {
    void* on_device = nullptr;
    ASSERT_EQ(cudaMalloc(&on_device, 4096), cudaSuccess);
    MemorySpace seen = MemorySpace::host;
    std::thread([&] { seen = space_of(on_device); }).join();
    EXPECT_EQ(seen, MemorySpace::device);
    cudaFree(on_device);
}

TEST_F(SpaceOfCuda, TheDriverIsInUseOnceTheProgramUsesADevice) {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_TRUE(device_driver_in_use());
}

}  // namespace
}  // namespace gradcoll
