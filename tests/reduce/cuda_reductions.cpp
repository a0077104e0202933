// The kernels of GPU reductions on the first CUDA device.
#include <cuda_runtime_api.h>

#include <memory>

#include "reduce/reduce_launch.hpp"
#include "reduce/reduce_machine.hpp"
#include "support/cuda_memory.hpp"

namespace gradcoll::test {
namespace {

class CudaReductions final : public ReduceMachine {
  public:
    Status launch(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) override {
        GRADCOLL_TRY(launch_reduce_cuda(launch, jobs));
        const cudaError_t error = cudaDeviceSynchronize();
        if (error == cudaSuccess) return {};
        return {Code::transport, cudaGetErrorString(error)};
    }
    TestMemory& memory() override { return memory_; }

  private:
    CudaMemory memory_;
};

}  // namespace

ReduceMachine* reduce_machine() {
    static const std::unique_ptr<CudaReductions> machine =
        has_cuda_device() ? std::make_unique<CudaReductions>() : nullptr;
    return machine.get();
}

}  // namespace gradcoll::test
