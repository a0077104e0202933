#include "api/calls/tolerance.hpp"

#include "api/comm/loss_budget.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

/// Of all ranks together. Ranks without a finite element count as if they had zeros. `values`: null
/// if they cannot be read, which only this rank knows: then no rank goes on.
Result<Extent> extent_of_all(const CommContext& context, const CallShape& shape,
                             const void* values) {
    const Extent mine = values != nullptr
                            ? extent_of(shape.type, values, static_cast<std::size_t>(shape.count))
                            : Extent();
    double farthest[] = {mine.highest, -mine.lowest, values == nullptr ? 1.0 : 0.0};
    GRADCOLL_TRY(from_mpi(PMPI_Allreduce(MPI_IN_PLACE, farthest, 3, MPI_DOUBLE, MPI_MAX,
                                         context.identity().private_comm()),
                          "MPI_Allreduce"));
    if (farthest[2] > 0)
        return Status(Code::unsupported,
                      "gc_tolerance: the vector of some rank is on a device; allowed: vectors in "
                      "host memory");
    return Extent{-farthest[1], farthest[0]};
}

}  // namespace

Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host) {
    const Settings& settings = context.settings().current();
    KeptTolerance kept{route};
    if (!settings.tolerance || !route.key.compress) return kept;
    const Extent inputs = GRADCOLL_VALUE(
        extent_of_all(context, shape, on_host ? binding_of(arguments, shape).input : nullptr));
    const LossBudget budget =
        loss_budget_of(*settings.tolerance, inputs, shape.type, context.tree());
    const std::int64_t encodings = context.encodings_of(settings, route);
    kept.promised = budget.tolerance;
    kept.for_encodings = budget.for_encodings;
    if (encodings > 0 && is_worth_encoding(inputs, shape.type,
                                           budget.for_encodings / static_cast<double>(encodings)))
        return kept;
    log(context.identity().rank() == 0 ? LogLevel::info : LogLevel::debug,
        "communicator '{}': {} bytes stay exact: of gc_tolerance, {:.3g} here, {:.3g} is left for "
        "{} encodings of values from {:.3g} to {:.3g}",
        context.identity().name(), shape.size_bytes(), budget.tolerance, budget.for_encodings,
        encodings, inputs.lowest, inputs.highest);
    kept.route = exact_route(settings, shape, route, ExactReason::tolerance_too_small);
    return kept;
}

}  // namespace gradcoll
