// tests/reduce/reduce_machine.hpp - what runs the kernels of GPU reductions in a test program:
// emulated warps (emulated_reductions.cpp) or a device (cuda_reductions.cpp).
#pragma once

#include <span>

#include "reduce/device_reduce.hpp"
#include "support/test_memory.hpp"

namespace gradcoll::test {

class ReduceMachine {
  public:
    virtual ~ReduceMachine() = default;
    /// Launches the jobs and waits for their end.
    virtual Status launch(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) = 0;
    virtual TestMemory& memory() = 0;
};

/// Returns the machine of this program, or null if there is none: then all its tests are skipped.
ReduceMachine* reduce_machine();

}  // namespace gradcoll::test
