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

/// The same on all ranks but for the addresses, and the refusal.
struct SumRequest {
    const std::byte* input = nullptr;  ///< may be `output`
    std::byte* output = nullptr;
    std::size_t count = 0;  ///< elements
    ElementType type = ElementType::f32;
    ReduceOp op = ReduceOp::sum;   ///< one that has a kernel for the type
    const Codec* codec = nullptr;  ///< null: exact
    Code refusal = Code::ok;  ///< not ok: this rank's vector means nothing, and all are to know why
};

/// The same on all ranks.
struct SumOutcome {
    /// So many first elements of the output are the sums, with the same bits on all ranks. Behind
    /// them the input is as it was.
    std::size_t done = 0;
    std::optional<Failure> refusal;  ///< of the lowest rank that refused
};

class VectorSums {
  public:
    virtual ~VectorSums() = default;
    /// Whether it adds vectors of that type and length. The same on all ranks.
    virtual bool takes(ElementType type, std::size_t size_bytes) const = 0;
    /// ... and encodes them. Likewise.
    virtual bool takes_codecs() const = 0;
    /// Collective; waits. Precondition: takes(). If not all is done, it takes nothing any more.
    /// Errors: transport.
    virtual Result<SumOutcome> sum(const SumRequest& request) = 0;
};

}  // namespace gradcoll
