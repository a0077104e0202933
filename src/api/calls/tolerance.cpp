#include "api/calls/tolerance.hpp"

#include <algorithm>

#include "api/comm/started_calls.hpp"
#include "base/log.hpp"

namespace gradcoll {

InputReport report_of(const CallShape& shape, const void* values) {
    const Extent mine = values != nullptr
                            ? extent_of(shape.type, values, static_cast<std::size_t>(shape.count))
                            : Extent();
    return {mine.highest, -mine.lowest, values == nullptr ? 1.0 : 0.0};
}

Result<Extent> inputs_of(const InputReport& all) {
    if (all[2] > 0)
        return Status(Code::unsupported,
                      "gc_tolerance: the vector of some rank cannot be read; allowed: vectors in "
                      "host memory");
    return Extent{-all[1], all[0]};
}

LossBudget settle(const CommIdentity& comm, const Tree& tree, const LossTerms& terms,
                  const Extent& inputs) {
    LossBudget budget = loss_budget_of(terms.tolerance, inputs, terms.type, tree);
    // Where links are slowest an encoding may lose most: what is not worth it there is so nowhere.
    const double part =
        budget.for_encodings / static_cast<double>(std::max<std::int64_t>(terms.parts.together, 1));
    if (is_worth_encoding(inputs, terms.type, part * static_cast<double>(terms.parts.largest)))
        return budget;
    log(comm.rank() == 0 ? LogLevel::info : LogLevel::debug,
        "communicator '{}': {} bytes stay exact: of gc_tolerance, {:.3g} here, {:.3g} is left for "
        "{} parts of values from {:.3g} to {:.3g}",
        comm.name(), terms.size_bytes, budget.tolerance, budget.for_encodings, terms.parts.together,
        inputs.lowest, inputs.highest);
    budget.for_encodings = 0;
    return budget;
}

Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host) {
    const Settings& settings = context.settings().current();
    KeptTolerance kept{route};
    if (!settings.tolerance || !route.key.compress) return kept;
    InputReport report = report_of(shape, on_host ? binding_of(arguments, shape).input : nullptr);
    GRADCOLL_TRY(allreduce_going_on(report.data(), static_cast<int>(report.size()), MPI_DOUBLE,
                                    MPI_MAX, context.identity().private_comm()));
    const LossTerms terms{*settings.tolerance, context.loss_parts_of(settings, route), shape.type,
                          shape.size_bytes()};
    const LossBudget budget =
        settle(context.identity(), context.tree(), terms, GRADCOLL_VALUE(inputs_of(report)));
    kept.promised = budget.tolerance;
    kept.for_encodings = budget.for_encodings;
    if (budget.for_encodings > 0) return kept;
    kept.route = exact_route(settings, shape, route, ExactReason::tolerance_too_small);
    return kept;
}

}  // namespace gradcoll
