// tests/soak/number_kinds.hpp - integers, floats and 16-bit floats under MPI's own ops.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "soak/kinds.hpp"

namespace gradcoll::soak {

enum class Op { sum, prod, min, max, land, lor, lxor, band, bor, bxor };

/// Draws a value such that MPI libraries agree on the result: docs/gotchas.md says which narrow
/// sums saturate and which unsigned minima compare as signed. The kernels' tests cover values that
/// wrap or are above half.
template <class T>
T drawn_integer(Op op, std::uint64_t bits, int rank) {
    switch (op) {
        case Op::sum:
            if (sizeof(T) > 2) return static_cast<T>(bits);
            return static_cast<T>(static_cast<T>(bits % 15) - (std::is_signed_v<T> ? 7 : 0));
        case Op::prod:
            if (sizeof(T) > 2) return static_cast<T>(bits | 1);
            return static_cast<T>(rank < 6 ? 1 + bits % 2 : 1);
        case Op::min:
        case Op::max:
            return std::is_signed_v<T> ? static_cast<T>(bits)
                                       : static_cast<T>(static_cast<T>(bits) / 2);
        case Op::land:
        case Op::lor:
        case Op::lxor:
            return static_cast<T>(bits >> 7 & bits & 1);
        case Op::band:
        case Op::bor:
        case Op::bxor:
            return static_cast<T>(bits);
    }
    return 0;
}

template <class T>
T reduced(Op op, T a, T b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
        case Op::sum:
            return static_cast<T>(x + y);
        case Op::prod:
            return static_cast<T>(x * y);
        case Op::min:
            return std::min(a, b);
        case Op::max:
            return std::max(a, b);
        case Op::land:
            return a && b;
        case Op::lor:
            return a || b;
        case Op::lxor:
            return !a != !b;
        case Op::band:
            return static_cast<T>(x & y);
        case Op::bor:
            return static_cast<T>(x | y);
        case Op::bxor:
            return static_cast<T>(x ^ y);
    }
    return 0;
}

template <class T>
class IntegerKind : public Kind {
  public:
    IntegerKind(std::string name, MPI_Datatype type, std::pair<Op, MPI_Op> op)
        : Kind(std::move(name), type, op.second, sizeof(T)), of_(op.first) {}

    void fill(void* out, const Section& section, int rank) const override {
        T* values = static_cast<T*>(out);
        for (std::size_t i = 0; i < section.count; ++i) values[i] = value(section, rank, i);
    }
    std::string check(const void* out, const Section& section, int ranks, Loss) const override {
        return compare(out, section, [&](std::size_t i) {
            T wanted = value(section, 0, i);
            for (int rank = 1; rank < ranks; ++rank)
                wanted = reduced(of_, wanted, value(section, rank, i));
            return wanted;
        });
    }
    std::string check_copy(const void* out, const Section& section, int rank, Loss) const override {
        return compare(out, section, [&](std::size_t i) { return value(section, rank, i); });
    }

  private:
    T value(const Section& section, int rank, std::size_t i) const {
        return drawn_integer<T>(of_, bits_at(section.key, rank, section.first + i), rank);
    }
    template <class Wanted>
    static std::string compare(const void* out, const Section& section, Wanted&& wanted) {
        const T* values = static_cast<const T*>(out);
        for (std::size_t i = 0; i < section.count; ++i)
            if (values[i] != wanted(i))
                return fmt::format("element {} of {} is {}, not {}", section.first + i,
                                   section.count, +values[i], +wanted(i));
        return {};
    }

    Op of_;
};

/// Float says how a floating-point type is stored: `Stored` in memory, `roundoff` of one addition.
template <class T>
struct Float {
    using Stored = T;
    static constexpr long double roundoff = std::numeric_limits<T>::epsilon() / 2;
    static constexpr long double tiny = std::numeric_limits<T>::denorm_min();
    static T drawn(std::uint64_t bits) {
        const T fraction = static_cast<T>(static_cast<std::int32_t>(bits)) / T(2147483648.0);
        return std::ldexp(fraction, static_cast<int>(bits >> 60));
    }
    static T drawn_factor(std::uint64_t bits) {
        const T fraction = 1 + static_cast<T>(bits & 0xffffff) / T(16777216.0);
        return bits >> 63 ? -fraction : fraction / 2;
    }
    static long double real(T value) { return value; }
};

/// SixteenBits has 16 bits, of which the low `fraction_bits` are the fraction; normal numbers near
/// 1.
template <int fraction_bits, int bias>
struct SixteenBits {
    using Stored = std::uint16_t;
    static constexpr long double roundoff = 1.0L / (2 << fraction_bits);
    static constexpr long double tiny = 1e-7L;
    static Stored made(std::uint64_t bits, int exponent) {
        const auto sign_and_fraction = static_cast<unsigned>(bits) & (0x8000U | fraction_mask);
        return static_cast<Stored>(sign_and_fraction | static_cast<unsigned>(exponent + bias)
                                                           << fraction_bits);
    }
    static Stored drawn(std::uint64_t bits) { return made(bits, static_cast<int>(bits >> 61) - 4); }
    static Stored drawn_factor(std::uint64_t bits) {
        return made(bits, -static_cast<int>(bits >> 63));
    }
    static long double real(Stored bits) {
        const int exponent = static_cast<int>(bits & 0x7fffU) >> fraction_bits;
        const auto fraction = static_cast<long double>(bits & fraction_mask);
        const long double ulp = std::ldexp(1.0L, -fraction_bits);
        const long double size = exponent == 0 ? std::ldexp(fraction * ulp, 1 - bias)
                                               : std::ldexp(1 + fraction * ulp, exponent - bias);
        return bits & 0x8000U ? -size : size;
    }

  private:
    static constexpr unsigned fraction_mask = (1U << fraction_bits) - 1;
};
using Binary16 = SixteenBits<10, 15>;
using Bfloat16 = SixteenBits<7, 127>;

template <class F>
class FloatKind : public Kind {
  public:
    using Stored = typename F::Stored;
    FloatKind(std::string name, MPI_Datatype type, std::pair<Op, MPI_Op> op)
        : Kind(std::move(name), type, op.second, sizeof(Stored)), of_(op.first) {}

    bool is_floating() const override { return sizeof(Stored) <= sizeof(double); }
    bool is_floating_sum() const override { return is_floating() && of_ == Op::sum; }

    void fill(void* out, const Section& section, int rank) const override {
        auto* values = static_cast<Stored*>(out);
        for (std::size_t i = 0; i < section.count; ++i) values[i] = value(section, rank, i);
    }
    std::string check(const void* out, const Section& section, int ranks,
                      Loss loss) const override {
        return compare(out, section, loss,
                       [&](std::size_t i) { return expected(section, ranks, i); });
    }
    std::string check_copy(const void* out, const Section& section, int rank,
                           Loss loss) const override {
        return compare(out, section, loss, [&](std::size_t i) {
            const long double put_in = F::real(value(section, rank, i));
            return Expected{put_in, std::abs(put_in), 0};
        });
    }

  private:
    /// Expected is the reduction, its value if all signs were equal, and the error that rounding
    /// may cause.
    struct Expected {
        long double value = 0, sum_of_sizes = 0, tolerance = 0;
    };

    Stored value(const Section& section, int rank, std::size_t i) const {
        const std::uint64_t bits = bits_at(section.key, rank, section.first + i);
        return of_ == Op::prod ? F::drawn_factor(bits) : F::drawn(bits);
    }

    Expected expected(const Section& section, int ranks, std::size_t i) const {
        Expected result;
        result.value = F::real(value(section, 0, i));
        result.sum_of_sizes = std::abs(result.value);
        for (int rank = 1; rank < ranks; ++rank) {
            const long double x = F::real(value(section, rank, i));
            result.value = combined(result.value, x);
            result.sum_of_sizes += std::abs(x);
        }
        const long double size = of_ == Op::prod ? std::abs(result.value) : result.sum_of_sizes;
        if (of_ == Op::sum || of_ == Op::prod)
            result.tolerance = 1.02L * (ranks - 1) * F::roundoff * size + ranks * F::tiny;
        return result;
    }
    long double combined(long double a, long double b) const {
        switch (of_) {
            case Op::sum:
                return a + b;
            case Op::prod:
                return a * b;
            case Op::min:
                return std::min(a, b);
            default:
                return std::max(a, b);
        }
    }

    /// Compares with what is wanted. In a thinned sum an element misses at most all contributions,
    /// and a long vector resembles the exact one.
    template <class Wanted>
    static std::string compare(const void* out, const Section& section, Loss loss,
                               Wanted&& wanted) {
        const auto* values = static_cast<const Stored*>(out);
        long double product = 0;
        long double square = 0;
        for (std::size_t i = 0; i < section.count; ++i) {
            const Expected exact = wanted(i);
            const long double is = F::real(values[i]);
            long double allowed = exact.tolerance;
            if (loss == Loss::thinned) allowed += 1.05L * exact.sum_of_sizes;
            if (loss != Loss::with_carry_over && !(std::abs(is - exact.value) <= allowed))
                return fmt::format("element {} of {} is {}, not {} +- {}", section.first + i,
                                   section.count, is, exact.value, allowed);
            product += is * exact.value;
            square += exact.value * exact.value;
        }
        if (section.count >= 4096 && !(product >= 0.1L * square))
            return fmt::format("{} elements have nothing of the exact result: {} of {}",
                               section.count, product, square);
        return {};
    }

    Op of_;
};

}  // namespace gradcoll::soak
