// The kernels of GPU codecs on the first CUDA device.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>

#include "compress/codec_cuda.hpp"
#include "compress/codec_machine.hpp"
#include "support/cuda_memory.hpp"

namespace gradcoll::test {
namespace {

class CudaCodecs final : public CodecMachine {
  public:
    Status launch(CodecForm form, const CodecLaunch& launch,
                  std::span<const CodecJob> jobs) override {
        GRADCOLL_TRY(launch_codec_cuda_form(form, launch, jobs));
        return finish();
    }
    Status move(std::span<const BlockMove> moves) override {
        GRADCOLL_TRY(launch_block_moves_cuda(nullptr, moves));
        return finish();
    }
    TestMemory& memory() override { return memory_; }

  private:
    static Status finish() {
        const cudaError_t error = cudaDeviceSynchronize();
        if (error == cudaSuccess) return {};
        return {Code::transport, cudaGetErrorString(error)};
    }

    CudaMemory memory_;
};

}  // namespace

CodecMachine* codec_machine() {
    static const std::unique_ptr<CudaCodecs> machine =
        has_cuda_device() ? std::make_unique<CudaCodecs>() : nullptr;
    return machine.get();
}

}  // namespace gradcoll::test
