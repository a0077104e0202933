#include "support/cuda_memory.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace gradcoll::test {

bool has_cuda_device() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

std::byte* CudaMemory::allocate(std::size_t size_bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, size_bytes == 0 ? 1 : size_bytes), cudaSuccess) << size_bytes;
    return static_cast<std::byte*>(memory);
}

void CudaMemory::release(std::byte* memory) {
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

void CudaMemory::copy(void* to, const void* from, std::size_t size_bytes) {
    EXPECT_EQ(cudaMemcpy(to, from, size_bytes, cudaMemcpyDefault), cudaSuccess);
}

}  // namespace gradcoll::test
