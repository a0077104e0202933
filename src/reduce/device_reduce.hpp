// reduce/device_reduce.hpp - reductions on a device: what a plug-in offers, without naming any
// device runtime. Values are those of reduce/reducer.hpp.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"
#include "reduce/element_type.hpp"
#include "reduce/reduce_op.hpp"

namespace gradcoll {

/// A ReduceJob computes out[i] = a[i] op b[i]; `out` may be `a` or `b`. All memory is reached by
/// the device and aligned to its elements. Jobs of one launch do not depend on one another.
struct ReduceJob {
    const void* a = nullptr;
    const void* b = nullptr;
    void* out = nullptr;
    std::size_t count = 0;
};

struct ReduceLaunch {
    ReduceOp op = ReduceOp::sum;
    ElementType type = ElementType::f32;
    void* stream = nullptr;  ///< DeviceStream::native()
};

/// A LaunchReduce starts all jobs on the stream, many small ones in one launch; returns at once,
/// allocates nothing. Errors: unsupported (an op that is not defined for the type), invalid_buffer
/// (alignment), transport.
using LaunchReduce = Status (*)(const ReduceLaunch& launch, std::span<const ReduceJob> jobs);

}  // namespace gradcoll
