// call/tolerance/tolerance.hpp - how a sum keeps gc_tolerance, before it runs: its ranks look at
// their inputs, and agree on the type to add in and on what encodings may lose. Calls that nobody
// waits in are in tolerant_run.hpp.
#pragma once

#include <array>

#include "ways/comm_context.hpp"
#include "ways/loss_budget.hpp"

namespace gradcoll {

/// InputReport is what a rank tells of its input: the highest value, the lowest one negated, and 1
/// if it cannot read its vector or refuses the call. The report of all ranks has the largest of
/// each number.
using InputReport = std::array<double, 3>;
/// Returns the report of this rank. One without a finite element counts as if it had zeros.
/// `values` is null if they cannot be read, which only this rank knows.
InputReport report_of(const CallShape& shape, const void* values);
/// Returns the extent of the inputs of all ranks together. Errors: unsupported, on every rank, if
/// some rank's was not read.
Result<Extent> inputs_of(const InputReport& all);

/// LossTerms are what the loss of a call depends on besides its inputs.
struct LossTerms {
    ResultTolerance tolerance;
    LossParts parts = {};  ///< those of the plan; an exact one has none
    SumFacts sum;
    std::uint64_t size_bytes = 0;
    bool compress = false;  ///< whether the call is to be compressed
};
/// Returns what the call may lose. Encodings get nothing if that is too little for codecs to be
/// worth it, which is logged.
LossBudget settle(const CommIdentity& comm, const LossTerms& terms, const Extent& inputs);

/// Returns whether only a look at the digits of the inputs can show that additions are exact
/// enough. Each rank then tells of its input again, in the first number.
inline bool needs_digits(const LossBudget& budget) {
    return !budget.allows(budget.additions);
}
InputReport digits_report_of(const CallShape& shape, const void* values);
/// Returns the budget after that look; `all` is the report of all ranks together.
LossBudget settle_digits(LossBudget budget, const LossTerms& terms, const Extent& inputs,
                         const InputReport& all);

/// KeptTolerance says how a call keeps its tolerance.
struct KeptTolerance {
    Route route;             ///< an exact one if the tolerance leaves codecs too little
    LossBudget budget = {};  ///< no tolerance: nothing is promised
    bool is_kept = false;    ///< there is a promise, and `budget` says how it is kept

    /// Returns what the executor is told: Binding::tolerance.
    double for_encodings() const { return budget.for_encodings; }
};

/// Finds out how an allreduce or reduce-scatter that would take `route` keeps its tolerance.
/// Collective if keeps_tolerance(): one short allreduce or two. `on_host` says that the buffers of
/// `arguments` are in host memory. Errors: unsupported, on every rank, if those of some rank are
/// not; transport.
Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host);

/// Returns the error of a call whose result, which is there, is off by up to `off`, more than
/// promised.
Status not_kept(const LossBudget& budget, const ResultTolerance& tolerance, const CallShape& shape,
                double off);

}  // namespace gradcoll
