// runtime/binding.hpp - where the data of one call are: a plan meets user memory here.
#pragma once

#include <cstdint>

#include "reduce/reducer.hpp"

namespace gradcoll {

class OperationNumber;

/// Where one call's data are. With ExecutorOptions::data_on_device all of it is memory of the
/// device.
struct Binding {
    const void* input = nullptr;  ///< equals `output` for in-place calls
    void* output = nullptr;
    /// plan.residual_elems() values (fp32; fp64 for fp64 elements), or null.
    void* residual = nullptr;
    Reducer reducer;  ///< must be a sum if the plan has a lossy codec: the caller checks
    ReduceOp op = ReduceOp::sum;  ///< the reducer's, for executors whose data are on a device
    /// Number of the operation on its communicator, the same on all ranks: keeps the messages of
    /// operations that overlap in time apart (runtime/tags.hpp).
    std::uint32_t sequence = 0;
    /// Null, or the number whose turn the operation awaits before it begins; kept until it has
    /// ended (runtime/operation_numbers.hpp).
    const OperationNumber* turn = nullptr;
};

}  // namespace gradcoll
