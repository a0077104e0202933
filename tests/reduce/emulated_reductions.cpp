// The kernels of GPU reductions on emulated warps.
#include "reduce/lane_ops.hpp"
#include "reduce/reduce_launch.hpp"
#include "reduce/reduce_machine.hpp"
#include "support/warp_emulator.hpp"

namespace gradcoll::test {
namespace {

BatchKernel emulated_kernel(ReduceOp op, ElementType type) {
    if (op >= ReduceOp::land) return logical_kernel<OnEmulatedWarps>(op, type);
    return is_floating(type) ? arithmetic_float_kernel<OnEmulatedWarps>(op, type)
                             : arithmetic_integer_kernel<OnEmulatedWarps>(op, type);
}

class EmulatedReductions final : public ReduceMachine {
  public:
    Status launch(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) override {
        return launch_reduce(emulated_kernel, launch, jobs);
    }
    TestMemory& memory() override { return memory_; }

  private:
    HostMemory memory_;
};

}  // namespace

ReduceMachine* reduce_machine() {
    static EmulatedReductions machine;
    return &machine;
}

}  // namespace gradcoll::test
