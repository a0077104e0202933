// runtime/binding.hpp - where the data of one call are: a plan meets user memory here.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "reduce/reducer.hpp"
#include "runtime/operation_numbers.hpp"

namespace gradcoll {

/// Where one call's data are. With ExecutorOptions::data_on_device all of it is memory of the
/// device.
struct Binding {
    const void* input = nullptr;  ///< equals `output` for in-place calls
    void* output = nullptr;
    /// plan.residual_elems() values (fp32; fp64 for fp64 elements), or null.
    void* residual = nullptr;
    Reducer reducer;  ///< must be a sum if the plan has a lossy codec: the caller checks
    ReduceOp op = ReduceOp::sum;  ///< the reducer's, for executors whose data are on a device
    /// What all encodings of an element together may lose at most, where codecs of the plan take a
    /// tolerance and have none: each gets the same share. 0: nothing. The same on all ranks.
    double tolerance = 0;
    /// Not null: this rank takes no part, for this reason, which is the outcome. Its messages tell
    /// the others so, and the buffers are room for what arrives: both the same, as long as the
    /// vector. Until the operation has ended.
    const Status* refusal = nullptr;
    /// What tells calls apart whose plans are the same: types of one size, and ops. 0: nothing
    /// does.
    std::uint64_t signature = 0;
    /// Number of the operation on its communicator, the same on all ranks: keeps the messages of
    /// operations that overlap in time apart (runtime/tags.hpp). Not read if `numbers` gives one.
    std::uint32_t sequence = 0;
    /// How its signature is, beside that of the operation before with the same tags: of one that
    /// has its number from elsewhere. The same on all ranks.
    SignatureChange change = SignatureChange::none;
    /// Null, or where the operation takes its number when it is started, even if that fails; it
    /// then begins in its turn, and holds the number until it has ended. Must outlive it
    /// (runtime/operation_numbers.hpp).
    OperationNumbers* numbers = nullptr;
};

}  // namespace gradcoll
