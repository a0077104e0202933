#include "reduce/reference.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "reduce/half.hpp"

namespace gradcoll::reference {
namespace {

struct F16 {
    std::uint16_t bits;
};
struct Bf16 {
    std::uint16_t bits;
};

float widened(F16 x) {
    return float_from_f16(x.bits);
}
float widened(Bf16 x) {
    return float_from_bf16(x.bits);
}
void narrow(float x, F16& out) {
    out.bits = f16_from_float(x);
}
void narrow(float x, Bf16& out) {
    out.bits = bf16_from_float(x);
}

template <class T>
constexpr bool is_half = std::is_same_v<T, F16> || std::is_same_v<T, Bf16>;

template <class T>
T wrapping(ReduceOp op, T a, T b) {
    // Through 64 unsigned bits: no promotion to int, no overflow that is undefined.
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<T>(op == ReduceOp::sum ? x + y : x * y);
}

template <class T>
T integer(ReduceOp op, T a, T b) {
    switch (op) {
        case ReduceOp::land:
            return static_cast<T>(a != 0 && b != 0);
        case ReduceOp::lor:
            return static_cast<T>(a != 0 || b != 0);
        case ReduceOp::lxor:
            return static_cast<T>((a != 0) != (b != 0));
        case ReduceOp::band:
            return static_cast<T>(a & b);
        case ReduceOp::bor:
            return static_cast<T>(a | b);
        case ReduceOp::bxor:
            return static_cast<T>(a ^ b);
        default:
            return wrapping(op, a, b);
    }
}

template <class T>
T quiet_nan() {
    if constexpr (std::is_same_v<T, F16>)
        return {0x7e00};
    else if constexpr (std::is_same_v<T, Bf16>)
        return {0x7fc0};
    else
        return std::numeric_limits<T>::quiet_NaN();
}

/// Returns the smaller or the larger number, and the quiet NaN if either is NaN; -0 is below +0.
template <class T, class Wide>
T extreme(ReduceOp op, T a, T b, Wide x, Wide y) {
    if (std::isnan(x) || std::isnan(y)) return quiet_nan<T>();
    const bool a_is_below = x == y ? std::signbit(x) && !std::signbit(y) : x < y;
    return a_is_below == (op == ReduceOp::min) ? a : b;
}

template <class T>
T one(ReduceOp op, T a, T b) {
    const bool is_extreme = op == ReduceOp::min || op == ReduceOp::max;
    if constexpr (is_half<T>) {
        if (is_extreme) return extreme(op, a, b, widened(a), widened(b));
        T out;
        narrow(one(op, widened(a), widened(b)), out);
        return out;
    } else {
        if constexpr (std::is_integral_v<T>) {
            if (is_extreme) return (a < b) == (op == ReduceOp::min) ? a : b;
            return integer(op, a, b);
        } else {
            if (is_extreme) return extreme(op, a, b, a, b);
            return op == ReduceOp::sum ? a + b : a * b;
        }
    }
}

template <class T>
T at(const Bytes& bytes, std::size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

/// Calls `use` with a value of the C++ type of `type`.
template <class Use>
auto with_type(ElementType type, Use use) {
    switch (type) {
        case ElementType::f16:
            return use(F16{});
        case ElementType::bf16:
            return use(Bf16{});
        case ElementType::f32:
            return use(float{});
        case ElementType::f64:
            return use(double{});
        case ElementType::i8:
            return use(std::int8_t{});
        case ElementType::u8:
            return use(std::uint8_t{});
        case ElementType::i16:
            return use(std::int16_t{});
        case ElementType::u16:
            return use(std::uint16_t{});
        case ElementType::i32:
            return use(std::int32_t{});
        case ElementType::u32:
            return use(std::uint32_t{});
        case ElementType::i64:
            return use(std::int64_t{});
        default:
            return use(std::uint64_t{});
    }
}

}  // namespace

bool is_defined(ReduceOp op, ElementType type) {
    return type != ElementType::opaque && (!is_floating(type) || op <= ReduceOp::max);
}

Bytes reduced(ReduceOp op, ElementType type, const Bytes& a, const Bytes& b) {
    return with_type(type, [&]<class T>(T) {
        Bytes out(a.size());
        for (std::size_t i = 0; i < a.size() / sizeof(T); ++i) {
            const T value = one(op, at<T>(a, i), at<T>(b, i));
            std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
        }
        return out;
    });
}

bool is_nan(ElementType type, const Bytes& a, std::size_t index) {
    return with_type(type, [&]<class T>(T) {
        if constexpr (is_half<T>)
            return std::isnan(widened(at<T>(a, index)));
        else if constexpr (std::is_floating_point_v<T>)
            return std::isnan(at<T>(a, index));
        else
            return false;
    });
}

bool both_nan(ElementType type, const Bytes& a, const Bytes& b, std::size_t index) {
    return is_nan(type, a, index) && is_nan(type, b, index);
}

}  // namespace gradcoll::reference
