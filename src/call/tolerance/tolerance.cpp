#include "call/tolerance/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/log.hpp"
#include "comm/started_calls.hpp"
#include "comm/unused_codec.hpp"
#include "reduce/widen.hpp"

namespace gradcoll {
namespace {

constexpr int no_digits = std::numeric_limits<int>::max();

void tell_that_it_stays_exact(const CommIdentity& comm, const LossTerms& terms,
                              const LossBudget& budget, const Extent& inputs) {
    log(comm.rank() == 0 ? LogLevel::info : LogLevel::debug,
        "communicator '{}': {} bytes stay exact: of gc_tolerance, {:.3g} here, {:.3g} is left for "
        "{} parts of values from {:.3g} to {:.3g}",
        comm.name(), terms.size_bytes, budget.tolerance, budget.for_encodings, terms.parts.together,
        inputs.lowest, inputs.highest);
}

/// Warns once a process, and once a job if all use one communicator.
void tell_of_residual(const CommIdentity& comm) {
    static std::atomic_flag is_told;
    if (comm.rank() != 0 || is_told.test_and_set()) return;
    log(LogLevel::warn,
        "gc_tolerance promises nothing of calls with a residual: they are exact but for the "
        "additions of their type, and add what it holds of earlier calls; said once");
}

/// Returns the least number of two digits that is not below `off`.
double two_digits_above(double off) {
    if (!(off > 0) || !std::isfinite(off)) return off;
    const double unit = std::pow(10.0, std::floor(std::log10(off)) - 1);
    return std::ceil(off / unit) * unit;
}

}  // namespace

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

LossBudget settle(const CommIdentity& comm, const LossTerms& terms, const Extent& inputs) {
    const auto exact = [&] { return exact_budget_of(terms.tolerance, inputs, terms.sum); };
    if (!terms.compress) return exact();
    const LossBudget budget = loss_budget_of(terms.tolerance, inputs, terms.sum);
    // An encoding may lose most where links are slowest; if it does not pay there it does not pay
    // anywhere.
    const double part =
        budget.for_encodings / static_cast<double>(std::max<std::int64_t>(terms.parts.together, 1));
    const bool is_enough =
        is_worth_encoding(inputs, budget.added_in, part * static_cast<double>(terms.parts.largest));
    note_tolerance(comm, terms.size_bytes, is_enough);
    if (is_enough) return budget;
    tell_that_it_stays_exact(comm, terms, budget, inputs);
    return exact();
}

InputReport digits_report_of(const CallShape& shape, const void* values) {
    const int lowest =
        values != nullptr
            ? lowest_bit_of(shape.type, values, static_cast<std::size_t>(shape.count), no_digits)
            : no_digits;
    return {-static_cast<double>(lowest), 0, 0};
}

LossBudget settle_digits(LossBudget budget, const LossTerms& terms, const Extent& inputs,
                         const InputReport& all) {
    if (!adds_exactly(budget, inputs, terms.sum, static_cast<int>(-all[0]))) return budget;
    budget.additions = 0;
    budget.is_sure = budget.added_in == terms.sum.type;
    return budget;
}

Result<KeptTolerance> keep_tolerance(CommContext& context, const CallArguments& arguments,
                                     const CallShape& shape, const Route& route, bool on_host) {
    const Settings& settings = context.settings().current();
    KeptTolerance kept{route};
    if (!keeps_tolerance(settings, shape)) return kept;
    if (route.key.feedback) {
        tell_of_residual(context.identity());
        return kept;
    }
    const MPI_Comm comm = context.identity().private_comm();
    const auto of_all = [&](InputReport& report) {
        return allreduce_going_on(report.data(), static_cast<int>(report.size()), MPI_DOUBLE,
                                  MPI_MAX, comm);
    };
    const void* const values = on_host ? binding_of(arguments, shape).input : nullptr;
    InputReport report = report_of(shape, values);
    GRADCOLL_TRY(of_all(report));
    const Extent inputs = GRADCOLL_VALUE(inputs_of(report));
    LossTerms terms{.tolerance = *settings.tolerance,
                    .sum = {.type = shape.type, .ranks = context.identity().rank_count()},
                    .size_bytes = shape.size_bytes(),
                    .compress = route.key.compress};
    if (terms.compress) {
        terms.parts = context.loss_parts_of(settings, route);
        // Agents add all ranks of a host, and then the hosts.
        terms.sum.chain =
            route.goes(agents_way()) ? terms.sum.ranks - 1 : longest_chain(context.tree());
    }
    kept.is_kept = true;
    kept.budget = settle(context.identity(), terms, inputs);
    if (needs_digits(kept.budget)) {
        report = digits_report_of(shape, values);
        GRADCOLL_TRY(of_all(report));
        kept.budget = settle_digits(kept.budget, terms, inputs, report);
    }
    if (kept.budget.for_encodings == 0 && route.key.compress)
        kept.route = exact_route(settings, shape, route, ExactReason::tolerance_too_small);
    return kept;
}

Status not_kept(const LossBudget& budget, const ResultTolerance& tolerance, const CallShape& shape,
                double off) {
    const bool is_abs = tolerance.kind == ResultTolerance::Kind::abs;
    const double range = is_abs ? 1 : budget.tolerance / tolerance.value;
    const bool has_range = is_abs || range > 0;
    return {Code::unsupported,
            fmt::format("gc_tolerance={}{:g} cannot be kept: {} sums of these inputs may be off by "
                        "{:.3g}, more than {:.3g}; allowed for them: {}{:.2g} or more (the result "
                        "is there)",
                        is_abs ? "abs=" : "range=", tolerance.value, name_of(shape.type), off,
                        budget.tolerance, has_range && !is_abs ? "range=" : "abs=",
                        two_digits_above(has_range ? off / range : off))};
}

}  // namespace gradcoll
