#include "observe/measured_error.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <vector>

#include "base/mpi/exchange.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "observe/observe.hpp"
#include "reduce/widen.hpp"

namespace gradcoll {
namespace {

/// Returns the period that error= in GC_REPORT says; 0 without a report, as nobody reads the errors
/// then.
std::uint64_t wanted_period() {
    if (!report_is_wanted()) return 0;
    return static_cast<std::uint64_t>(
        parse_integer(option_text(OptionId::report_error), 0, 1'000'000).value());
}

}  // namespace

Difference difference_of(ElementType type, const void* result, std::span<const double> exact) {
    const auto* const elements = static_cast<const std::byte*>(result);
    const double largest = largest_of(type);
    std::array<double, 1024> values;
    Difference out;
    double squares = 0;
    double exact_squares = 0;
    for (std::size_t at = 0; at < exact.size(); at += values.size()) {
        const std::size_t count = std::min(values.size(), exact.size() - at);
        to_doubles(type, elements + at * element_bytes(type), std::span(values).first(count));
        for (std::size_t i = 0; i < count; ++i) {
            const double right = exact[at + i];
            if (!(std::abs(right) <= largest)) continue;
            double off = std::abs(values[i] - right);
            if (std::isnan(off)) off = HUGE_VAL;  // as far away as can be
            out.max_abs = std::max(out.max_abs, off);
            squares += off * off;
            exact_squares += right * right;
        }
    }
    if (squares != 0) out.relative_l2 = std::sqrt(squares / exact_squares);
    return out;
}

Result<ErrorSampling> ErrorSampling::make(MPI_Comm comm) {
    ErrorSampling sampling;
    sampling.period_ = wanted_period();
    GRADCOLL_TRY(broadcast(comm, sampling.period_));
    return sampling;
}

Status measure_error(MPI_Comm comm, const CallShape& shape, double promised, const std::byte* input,
                     const std::byte* result) {
    std::vector<double> exact(static_cast<std::size_t>(shape.count));
    to_doubles(shape.type, input, exact);
    for (std::size_t at = 0; at < exact.size();) {
        const std::size_t count = std::min<std::size_t>(exact.size() - at, INT_MAX);
        GRADCOLL_TRY(combine(comm, MPI_SUM, std::span(exact).subspan(at, count)));
        at += count;
    }
    const Difference found = difference_of(shape.type, result, exact);
    if (const auto entry = report_entry(comm))
        entry->report.add_error(entry->comm, shape.size_bytes(),
                                {found.max_abs, found.relative_l2, promised});
    return {};
}

}  // namespace gradcoll
