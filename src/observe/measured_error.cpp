#include "observe/measured_error.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/options.hpp"
#include "base/text.hpp"
#include "observe/observe.hpp"
#include "reduce/half.hpp"

namespace gradcoll {
namespace {

struct HalfValue {
    static constexpr double largest = 65504;
    std::uint16_t bits;
    explicit operator double() const {
        return std::bit_cast<float>(f32_bits_from_f16_bits<float, std::uint32_t>(bits));
    }
};

struct BrainValue {
    static constexpr double largest = 0x1.fep127;
    std::uint16_t bits;
    explicit operator double() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

template <class T>
constexpr double largest_of() {
    if constexpr (std::is_floating_point_v<T>)
        return std::numeric_limits<T>::max();
    else
        return T::largest;
}

template <class T>
double value_at(const void* values, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const char*>(values) + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
}

template <class T>
Difference difference(const void* result, std::span<const double> exact) {
    Difference out;
    double squares = 0;
    double exact_squares = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double right = exact[i];
        if (!(std::abs(right) <= largest_of<T>())) continue;
        double off = std::abs(value_at<T>(result, i) - right);
        if (std::isnan(off)) off = HUGE_VAL;  // as far away as can be
        out.max_abs = std::max(out.max_abs, off);
        squares += off * off;
        exact_squares += right * right;
    }
    if (squares != 0) out.relative_l2 = std::sqrt(squares / exact_squares);
    return out;
}

template <class T>
void widen(const void* values, std::vector<double>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value_at<T>(values, i);
}

/// Returns the period that error= in GC_REPORT says; 0 without a report, as nobody reads the errors
/// then.
std::uint64_t wanted_period() {
    if (!report_is_wanted()) return 0;
    return static_cast<std::uint64_t>(
        parse_integer(option_text(OptionId::report_error), 0, 1'000'000).value());
}

/// Calls work(a value of the C++ type).
template <class Work>
auto with_type(ElementType type, Work work) {
    switch (type) {
        case ElementType::f64:
            return work(double{});
        case ElementType::f16:
            return work(HalfValue{});
        case ElementType::bf16:
            return work(BrainValue{});
        default:
            return work(float{});
    }
}

}  // namespace

Difference difference_of(ElementType type, const void* result, std::span<const double> exact) {
    return with_type(type, [&](auto value) { return difference<decltype(value)>(result, exact); });
}

Result<ErrorSampling> ErrorSampling::make(MPI_Comm comm) {
    ErrorSampling sampling;
    sampling.period_ = wanted_period();
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(&sampling.period_, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast"));
    return sampling;
}

Status measure_error(MPI_Comm comm, const CallShape& shape, double promised, const std::byte* input,
                     const std::byte* result) {
    std::vector<double> exact(static_cast<std::size_t>(shape.count));
    with_type(shape.type, [&](auto value) { widen<decltype(value)>(input, exact); });
    for (std::size_t at = 0; at < exact.size();) {
        const std::size_t count = std::min<std::size_t>(exact.size() - at, INT_MAX);
        GRADCOLL_TRY(from_mpi(PMPI_Allreduce(MPI_IN_PLACE, exact.data() + at,
                                             static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm),
                              "MPI_Allreduce"));
        at += count;
    }
    const Difference found = difference_of(shape.type, result, exact);
    if (const auto entry = report_entry(comm))
        entry->report.add_error(entry->comm, shape.size_bytes(),
                                {found.max_abs, found.relative_l2, promised});
    return {};
}

}  // namespace gradcoll
