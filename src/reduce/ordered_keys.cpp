#include "reduce/ordered_keys.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace gradcoll {
namespace {

/// Bits has the bits of Inf and of the quiet NaN, without a sign, as integers of the element's
/// size.
template <class Int>
struct Bits {
    Int infinity, nan;
};

/// Calls `each(value)` for every integer in memory of any alignment, and stores what it returns.
template <class Int, class Each>
void change_each(void* data, std::size_t count, Each&& each) {
    auto* at = static_cast<unsigned char*>(data);
    for (std::size_t i = 0; i < count; ++i, at += sizeof(Int)) {
        Int value;
        std::memcpy(&value, at, sizeof value);
        value = each(value);
        std::memcpy(at, &value, sizeof value);
    }
}

template <class Int>
struct Keys {
    static constexpr Int magnitude = std::numeric_limits<Int>::max();
    /// Turns the magnitude of negative numbers round; it is its own inverse.
    static Int turned(Int bits) { return bits < 0 ? static_cast<Int>(bits ^ magnitude) : bits; }
    static Int key_of_nan(ReduceOp op) {
        return op == ReduceOp::min ? std::numeric_limits<Int>::min() : magnitude;
    }
    static void make(Bits<Int> bits, ReduceOp op, void* data, std::size_t count) {
        change_each<Int>(data, count, [=](Int value) {
            return static_cast<Int>(value & magnitude) > bits.infinity ? key_of_nan(op)
                                                                       : turned(value);
        });
    }
    static void undo(Bits<Int> bits, ReduceOp op, void* data, std::size_t count) {
        change_each<Int>(data, count,
                         [=](Int key) { return key == key_of_nan(op) ? bits.nan : turned(key); });
    }
};

/// Calls `of(bits)` with the bits of the type.
template <class Of>
void by_type(ElementType type, Of&& of) {
    switch (type) {
        case ElementType::f16:
            return of(Bits<std::int16_t>{0x7c00, 0x7e00});
        case ElementType::bf16:
            return of(Bits<std::int16_t>{0x7f80, 0x7fc0});
        case ElementType::f64:
            return of(Bits<std::int64_t>{0x7ff0000000000000, 0x7ff8000000000000});
        default:
            return of(Bits<std::int32_t>{0x7f800000, 0x7fc00000});
    }
}

}  // namespace

void to_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count) {
    by_type(type, [&]<class Int>(Bits<Int> bits) { Keys<Int>::make(bits, op, data, count); });
}

void from_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count) {
    by_type(type, [&]<class Int>(Bits<Int> bits) { Keys<Int>::undo(bits, op, data, count); });
}

}  // namespace gradcoll
