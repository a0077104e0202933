#include "api/calls/tolerance.hpp"

#include "api/comm/loss_budget.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

/// Of all ranks together. Ranks without a finite element count as if they had zeros.
Result<Extent> extent_of_all(const CommContext& context, const Extent& mine) {
    double farthest[] = {mine.highest, -mine.lowest};
    GRADCOLL_TRY(from_mpi(PMPI_Allreduce(MPI_IN_PLACE, farthest, 2, MPI_DOUBLE, MPI_MAX,
                                         context.identity().private_comm()),
                          "MPI_Allreduce"));
    return Extent{-farthest[1], farthest[0]};
}

}  // namespace

Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host) {
    const Settings& settings = context.settings().current();
    KeptTolerance kept{route};
    if (!settings.tolerance || !route.key.compress) return kept;
    if (!on_host)
        return Status(Code::unsupported,
                      "gc_tolerance: the vector is on a device; allowed: vectors in host memory");
    const Extent inputs = GRADCOLL_VALUE(
        extent_of_all(context, extent_of(shape.type, binding_of(arguments, shape).input,
                                         static_cast<std::size_t>(shape.count))));
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
