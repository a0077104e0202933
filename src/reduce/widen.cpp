#include "reduce/widen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "reduce/half.hpp"

namespace gradcoll {
namespace {

// These say how the elements of a type are read and written as what they are calculated in.
struct AsF16 {
    using Bits = std::uint16_t;
    using Wide = float;
    static Wide wide(Bits bits) { return float_from_f16(bits); }
    static Bits narrow(Wide value) { return f16_from_float(value); }
};
struct AsBf16 {
    using Bits = std::uint16_t;
    using Wide = float;
    static Wide wide(Bits bits) { return float_from_bf16(bits); }
    static Bits narrow(Wide value) { return bf16_from_float(value); }
};
struct AsF32 {
    using Bits = std::uint32_t;
    using Wide = double;
    static Wide wide(Bits bits) { return std::bit_cast<float>(bits); }
    static Bits narrow(Wide value) { return std::bit_cast<Bits>(static_cast<float>(value)); }
};
struct AsF64 {
    using Bits = std::uint64_t;
    using Wide = double;
    static Wide wide(Bits bits) { return std::bit_cast<double>(bits); }
};

/// Loads an element from an address of any alignment.
template <class T>
T load(const void* data, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(data) + index * sizeof(T), sizeof(T));
    return value;
}
template <class T>
void store(void* data, std::size_t index, T value) {
    std::memcpy(static_cast<std::byte*>(data) + index * sizeof(T), &value, sizeof(T));
}

/// Returns `of(format)` for the type, which is a floating-point one that has a wider one.
template <class Of>
auto by_format(ElementType type, Of&& of) {
    switch (type) {
        case ElementType::f16:
            return of(AsF16());
        case ElementType::bf16:
            return of(AsBf16());
        default:
            return of(AsF32());
    }
}

/// Returns `of(format)` for any floating-point type.
template <class Of>
auto by_any_format(ElementType type, Of&& of) {
    return type == ElementType::f64 ? of(AsF64()) : by_format(type, of);
}

/// Returns the bits of the significand, the leading one among them.
int precision_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return 11;
        case ElementType::bf16:
            return 8;
        case ElementType::f64:
            return 53;
        default:
            return 24;
    }
}

/// Returns where values begin to round to Inf: half-way from the largest to the next power of two.
double end_of(ElementType type) {
    const int exponent = type == ElementType::f16 ? 16 : 128;
    return std::ldexp(1 - std::ldexp(1.0, -precision_of(type) - 1), exponent);
}

/// This many elements are narrowed at a time, so that the compiler needs no order among them.
constexpr std::size_t lanes = 8;

template <class Format, bool writes>
double narrow_all(const void* in, std::size_t count, void* out) {
    using Wide = typename Format::Wide;
    Wide farthest[lanes] = {};
    const auto one = [&](std::size_t i, std::size_t lane) {
        const Wide value = load<Wide>(in, i);
        const auto bits = Format::narrow(value);
        if constexpr (writes) store(out, i, bits);
        // For NaN and Inf this is no number, which no comparison takes for a larger one.
        const auto off = static_cast<Wide>(std::abs(static_cast<Wide>(Format::wide(bits)) - value));
        farthest[lane] = off > farthest[lane] ? off : farthest[lane];
    };
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) one(i + lane, lane);
    for (; i < count; ++i) one(i, 0);
    return *std::max_element(std::begin(farthest), std::end(farthest));
}

/// Narrows each element by itself, where some finite one would become Inf.
template <class Format>
double narrow_each(ElementType to, const void* in, std::size_t count, double off, void* out) {
    using Wide = typename Format::Wide;
    const double largest = largest_of(to);
    double farthest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = load<Wide>(in, i);
        if (!std::isfinite(value)) continue;
        double rounded = Format::wide(Format::narrow(static_cast<Wide>(value)));
        if (std::isinf(rounded)) {
            if (std::abs(value) - off >= end_of(to)) continue;
            rounded = std::copysign(largest, value);
            if (out != nullptr) store(out, i, Format::narrow(static_cast<Wide>(rounded)));
        }
        farthest = std::max(farthest, std::abs(rounded - value));
    }
    return farthest;
}

template <class Format>
int lowest_bit(const void* data, std::size_t count, int none) {
    int lowest = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < count; ++i) {
        const double value = Format::wide(load<typename Format::Bits>(data, i));
        if (value == 0 || !std::isfinite(value)) continue;
        int exponent = 0;
        const double fraction = std::frexp(value, &exponent);
        const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
        const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
        lowest = std::min(lowest, exponent - 53 + zeros);
    }
    return lowest == std::numeric_limits<int>::max() ? none : lowest;
}

}  // namespace

double rounding_of(ElementType type) {
    return std::ldexp(1.0, -precision_of(type));
}

double largest_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return 65504;
        case ElementType::bf16:
            return 0x1.fep127;
        case ElementType::f64:
            return std::numeric_limits<double>::max();
        default:
            return std::numeric_limits<float>::max();
    }
}

void widen(ElementType from, const void* in, std::size_t count, void* out) {
    by_format(from, [&](auto format) {
        using Format = decltype(format);
        for (std::size_t i = 0; i < count; ++i)
            store(out, i,
                  static_cast<typename Format::Wide>(
                      Format::wide(load<typename Format::Bits>(in, i))));
    });
}

void to_doubles(ElementType from, const void* in, std::span<double> out) {
    by_any_format(from, [&](auto format) {
        using Format = decltype(format);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = Format::wide(load<typename Format::Bits>(in, i));
    });
}

double narrow(ElementType to, const void* in, std::size_t count, double off, void* out) {
    return by_format(to, [&](auto format) {
        using Format = decltype(format);
        double farthest = out != nullptr ? narrow_all<Format, true>(in, count, out)
                                         : narrow_all<Format, false>(in, count, out);
        if (std::isinf(farthest)) farthest = narrow_each<Format>(to, in, count, off, out);
        return farthest + off;
    });
}

int lowest_bit_of(ElementType type, const void* data, std::size_t count, int none) {
    return by_any_format(
        type, [&](auto format) { return lowest_bit<decltype(format)>(data, count, none); });
}

}  // namespace gradcoll
