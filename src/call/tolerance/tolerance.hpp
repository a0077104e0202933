// call/tolerance/tolerance.hpp - how a sum keeps gc_tolerance, before it runs: its ranks look at
// their inputs, and agree on the type to add in and on what encodings may lose. Of a call that
// nobody waits in: tolerant_run.hpp.
#pragma once

#include <array>

#include "ways/comm_context.hpp"
#include "ways/loss_budget.hpp"

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
    LossParts parts = {};  ///< of the plan; of an exact one none
    SumFacts sum;
    std::uint64_t size_bytes = 0;
    bool compress = false;  ///< the call would be
};
/// Nothing for encodings if that is too little for codecs to be worth it; the log says so.
LossBudget settle(const CommIdentity& comm, const LossTerms& terms, const Extent& inputs);

/// Whether only a look at the digits of the inputs can show that additions are exact enough; then
/// each rank tells of its input again, in the first number.
inline bool needs_digits(const LossBudget& budget) {
    return !budget.allows(budget.additions);
}
InputReport digits_report_of(const CallShape& shape, const void* values);
/// `all`: the reports of all ranks together.
LossBudget settle_digits(LossBudget budget, const LossTerms& terms, const Extent& inputs,
                         const InputReport& all);

/// What holds of a call.
struct KeptTolerance {
    Route route;             ///< an exact one if the tolerance leaves codecs too little
    LossBudget budget = {};  ///< no tolerance: nothing is promised
    bool is_kept = false;    ///< there is a promise, and `budget` says how it is kept

    /// What the executor is told: Binding::tolerance.
    double for_encodings() const { return budget.for_encodings; }
};

/// Says how an allreduce or reduce-scatter that would take `route` keeps its tolerance. Collective,
/// one short allreduce or two, if keeps_tolerance(). `arguments`: buffers in host memory if
/// `on_host`. Errors: unsupported, on every rank, if that of some rank is not; transport.
Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host);

/// The error of a call whose result, which is there, is off by up to `off`: more than promised.
Status not_kept(const LossBudget& budget, const ResultTolerance& tolerance, const CallShape& shape,
                double off);

}  // namespace gradcoll
