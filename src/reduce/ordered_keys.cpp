#include "reduce/ordered_keys.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "reduce/float_types.hpp"

namespace gradcoll {
namespace {

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

template <class Format>
struct Keys {
    using Int = std::make_signed_t<typename Format::Bits>;
    static constexpr auto infinity = static_cast<Int>(infinity_bits<Format>());
    static constexpr auto nan = static_cast<Int>(quiet_nan_bits<Format>());
    static constexpr Int magnitude = std::numeric_limits<Int>::max();
    /// Turns the magnitude of negative numbers round; it is its own inverse.
    static Int turned(Int bits) { return bits < 0 ? static_cast<Int>(bits ^ magnitude) : bits; }
    static Int key_of_nan(ReduceOp op) {
        return op == ReduceOp::min ? std::numeric_limits<Int>::min() : magnitude;
    }
    static void make(ReduceOp op, void* data, std::size_t count) {
        change_each<Int>(data, count, [=](Int value) {
            return static_cast<Int>(value & magnitude) > infinity ? key_of_nan(op) : turned(value);
        });
    }
    static void undo(ReduceOp op, void* data, std::size_t count) {
        change_each<Int>(data, count,
                         [=](Int key) { return key == key_of_nan(op) ? nan : turned(key); });
    }
};

/// Calls `of(keys)` with the keys of the type.
template <class Of>
void by_type(ElementType type, Of&& of) {
    switch (type) {
        case ElementType::f16:
            return of(Keys<Fp16>());
        case ElementType::bf16:
            return of(Keys<Bf16>());
        case ElementType::f64:
            return of(Keys<Fp64>());
        default:
            return of(Keys<Fp32>());
    }
}

}  // namespace

void to_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count) {
    by_type(type, [&](auto keys) { keys.make(op, data, count); });
}

void from_ordered_keys(ElementType type, ReduceOp op, void* data, std::size_t count) {
    by_type(type, [&](auto keys) { keys.undo(op, data, count); });
}

}  // namespace gradcoll
