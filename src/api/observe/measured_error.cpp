#include "api/observe/measured_error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "api/observe/observe.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "reduce/half.hpp"

namespace gradcoll {
namespace {

struct HalfValue {
    std::uint16_t bits;
    explicit operator double() const {
        return std::bit_cast<float>(f32_bits_from_f16_bits<float, std::uint32_t>(bits));
    }
};

struct BrainValue {
    std::uint16_t bits;
    explicit operator double() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

template <class T>
double value_at(const void* values, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const char*>(values) + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
}

template <class T>
Difference difference(const void* result, const void* exact, std::size_t count) {
    Difference out;
    double squares = 0;
    double exact_squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double right = value_at<T>(exact, i);
        if (!std::isfinite(right)) continue;
        double off = std::abs(value_at<T>(result, i) - right);
        if (std::isnan(off)) off = HUGE_VAL;  // as far away as can be
        out.max_abs = std::max(out.max_abs, off);
        squares += off * off;
        exact_squares += right * right;
    }
    if (squares != 0) out.relative_l2 = std::sqrt(squares / exact_squares);
    return out;
}

/// Without a report nobody reads the errors.
std::uint64_t wanted_period() {
    if (!report_is_wanted()) return 0;
    return static_cast<std::uint64_t>(
        parse_integer(option_text(OptionId::report_error), 0, 1'000'000).value());
}

Status sum_exactly(MPI_Comm comm, const CallArguments& arguments, const void* input, void* exact) {
    CallArguments twin = arguments;
    twin.sendbuf = input;
    twin.recvbuf = exact;
    twin.comm = comm;
    return pass_allreduce(twin).as_status("MPI_Allreduce");
}

}  // namespace

Difference difference_of(ElementType type, const void* result, const void* exact,
                         std::size_t count) {
    switch (type) {
        case ElementType::f64:
            return difference<double>(result, exact, count);
        case ElementType::f16:
            return difference<HalfValue>(result, exact, count);
        case ElementType::bf16:
            return difference<BrainValue>(result, exact, count);
        default:
            return difference<float>(result, exact, count);
    }
}

Result<ErrorSampling> ErrorSampling::make(MPI_Comm comm) {
    ErrorSampling sampling;
    sampling.period_ = wanted_period();
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(&sampling.period_, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast"));
    return sampling;
}

Status measure_error(MPI_Comm comm, const CallArguments& arguments, const CallShape& shape,
                     const std::byte* input, const std::byte* result) {
    std::vector<std::byte> exact(shape.size_bytes());
    GRADCOLL_TRY(sum_exactly(comm, arguments, input, exact.data()));
    const Difference found =
        difference_of(shape.type, result, exact.data(), static_cast<std::size_t>(shape.count));
    observe_error(comm, shape.size_bytes(), found.max_abs, found.relative_l2);
    return {};
}

}  // namespace gradcoll
