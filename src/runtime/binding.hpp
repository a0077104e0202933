// runtime/binding.hpp - where the data of one call are: a plan meets user memory here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "memory/vector_part.hpp"
#include "reduce/reducer.hpp"
#include "runtime/operation_numbers.hpp"

namespace gradcoll {

/// A ResultCheck knows more of a result than its messages do.
class ResultCheck {
  public:
    ResultCheck() = default;
    virtual ~ResultCheck() = default;
    ResultCheck(const ResultCheck&) = default;
    ResultCheck& operator=(const ResultCheck&) = default;
    /// Errors: corrupt, if this rank's result cannot be right.
    virtual Status check() const = 0;
};

/// Binding says where the data of one call are. With ExecutorOptions::data_on_device all of it is
/// memory of the device.
struct Binding {
    const void* input = nullptr;  ///< equals `output` for in-place calls
    void* output = nullptr;
    void* residual =
        nullptr;  ///< plan.residual_elems() values (fp32; fp64 for fp64 elements), or null
    /// If this is not empty, the vector lies in these parts, one after the other; `input`, `output`
    /// and `residual` are not used then. All of them begin at multiples of the blocks of the plan's
    /// codecs. The plan encodes_each_element_once(), and unless the parts lie one behind the other
    /// in memory, it has_messages_in_scratch(). They stay until the operation has ended.
    std::span<const VectorPart> parts = {};
    Reducer reducer;              ///< a sum if the plan has a lossy codec, which the caller checks
    ReduceOp op = ReduceOp::sum;  ///< the reducer's, for executors whose data are on a device
    /// The tolerance bounds what all encodings of an element may lose together. It is shared
    /// equally among the codecs of the plan that take a tolerance and have none; 0 allows no loss.
    /// All ranks give the same.
    double tolerance = 0;
    /// If this is not null, this rank takes no part, and the operation ends with this status. Its
    /// messages tell the other ranks so. The buffers then only hold what arrives: both are the same
    /// memory, as long as the vector. The status must stay until the operation has ended.
    const Status* refusal = nullptr;
    /// The signature tells calls apart whose plans are the same, but whose types (of one size) or
    /// ops differ. 0 means that nothing is compared.
    std::uint64_t signature = 0;
    /// The operation has this number on its communicator, the same on all ranks. It keeps the
    /// messages of operations that overlap in time apart (runtime/tags.hpp). It is not read if
    /// `numbers` gives one.
    std::uint32_t sequence = 0;
    /// If the number does not come from `numbers`, this says how the signature compares with that
    /// of the operation before with the same tags. It is the same on all ranks.
    SignatureChange change = SignatureChange::none;
    /// If this is not null, the operation takes its number from here when it is started, even if
    /// the start fails. It then begins in its turn and holds the number until it has ended. The
    /// object must outlive the operation (runtime/operation_numbers.hpp).
    OperationNumbers* numbers = nullptr;
    /// If this is not null, a checked operation (ExecutorOptions) looks at its result before all
    /// ranks agree on the outcome.
    const ResultCheck* check = nullptr;
};

}  // namespace gradcoll
