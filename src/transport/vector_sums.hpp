// transport/vector_sums.hpp - a way on which vectors are added: ranks hand theirs in, and all get
// the sum.
#pragma once

#include <cstddef>
#include <optional>

#include "base/failure.hpp"
#include "base/status.hpp"
#include "reduce/element_type.hpp"
#include "reduce/reduce_op.hpp"

namespace gradcoll {

struct Codec;

/// A SumRequest is the same on all ranks but for the addresses, and the refusal.
struct SumRequest {
    const std::byte* input = nullptr;  ///< may be `output`
    std::byte* output = nullptr;
    std::size_t count = 0;  ///< elements
    ElementType type = ElementType::f32;
    ReduceOp op = ReduceOp::sum;   ///< one that has a kernel for the type
    const Codec* codec = nullptr;  ///< null: exact
    Code refusal = Code::ok;  ///< not ok: this rank's vector means nothing, and all are to know why
};

/// A SumOutcome is the same on all ranks, but for the bytes.
struct SumOutcome {
    /// This many first elements of the output are the sums, with the same bits on all ranks. Behind
    /// them the input is as it was.
    std::size_t done = 0;
    /// This counts the bytes that left this host for the vector, as they travelled; of all ranks of
    /// a host, one has them.
    std::size_t sent_bytes = 0;
    std::size_t sent_exact_bytes = 0;  ///< the same without encoding
    std::optional<Failure> refusal;    ///< the refusal of the lowest rank that refused
};

class VectorSums {
  public:
    virtual ~VectorSums() = default;
    /// Returns whether it adds vectors of that type and length, the same on all ranks.
    virtual bool takes(ElementType type, std::size_t size_bytes) const = 0;
    /// Returns whether it also encodes them, the same on all ranks.
    virtual bool takes_codecs() const = 0;
    /// Returns how many encodings may have changed an element of a sum, one after another or in
    /// different addends, the same on all ranks.
    virtual int encodings() const = 0;
    /// Adds the vectors of all ranks; waits. Collective. takes() must hold. If not all is done, it
    /// takes nothing any more. Errors: transport.
    virtual Result<SumOutcome> sum(const SumRequest& request) = 0;
};

}  // namespace gradcoll
