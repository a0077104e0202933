// tests/support/cuda_memory.hpp - arrays of tests in the memory of a CUDA device.
#pragma once

#include "support/test_memory.hpp"

namespace gradcoll::test {

bool has_cuda_device();

/// CudaMemory is memory of the current device. A call that fails is a failure of the test.
class CudaMemory final : public TestMemory {
  public:
    std::byte* allocate(std::size_t size_bytes) override;
    void release(std::byte* memory) override;
    void copy(void* to, const void* from, std::size_t size_bytes) override;
};

}  // namespace gradcoll::test
