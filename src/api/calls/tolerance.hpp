// api/calls/tolerance.hpp - how one compressed call keeps gc_tolerance: its ranks look at their
// inputs first, and agree. Of a call that nobody waits in: tolerant_run.hpp.
#pragma once

#include <array>

#include "api/comm/comm_context.hpp"
#include "api/comm/loss_budget.hpp"

namespace gradcoll {

/// What a rank tells of its input; of all ranks, the largest of each number: the highest value, the
/// lowest one negated, and 1 if some rank cannot read its vector, or refuses the call.
using InputReport = std::array<double, 3>;
/// Ranks without a finite element count as if they had zeros. `values`: null if they cannot be
/// read, which only this rank knows.
InputReport report_of(const CallShape& shape, const void* values);
/// Of all ranks together. Errors: unsupported, on every rank, if some rank's was not read.
Result<Extent> inputs_of(const InputReport& all);

/// What a call may lose besides what its inputs say.
struct LossTerms {
    ResultTolerance tolerance;
    LossParts parts;  ///< of the plan
    ElementType type = ElementType::f32;
    std::uint64_t size_bytes = 0;
};
/// Nothing for encodings if that is too little for codecs to be worth it; the log says so.
LossBudget settle(const CommIdentity& comm, const Tree& tree, const LossTerms& terms,
                  const Extent& inputs);

/// What holds of a call.
struct KeptTolerance {
    Route route;               ///< an exact one if the tolerance leaves codecs too little
    double promised = 0;       ///< no element of the result is further off; 0: nothing is said
    double for_encodings = 0;  ///< Binding::tolerance
};

/// Of an allreduce or reduce-scatter that would take `route`. Collective, one short allreduce, if
/// it would be compressed and there is a gc_tolerance. `arguments`: buffers in host memory if
/// `on_host`. Errors: unsupported, on every rank, if that of some rank is not; transport.
Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host);

}  // namespace gradcoll
