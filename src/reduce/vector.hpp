// reduce/vector.hpp - GNU vector types: a name for them, loads and stores at any alignment,
// shuffles. Everything is forced inline, as in half.hpp and for the same reason.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

namespace gradcoll {

template <class T, std::size_t count>
struct VectorOf {
    using type [[gnu::vector_size(sizeof(T) * count)]] = T;
};
template <class T, std::size_t count>
using Vector = typename VectorOf<T, count>::type;

template <class V>
[[gnu::always_inline]] inline V load_vector(const void* from) {
    V vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class V>
[[gnu::always_inline]] inline void store_vector(void* to, V vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <class V>
inline constexpr int lanes_of = sizeof(V) / sizeof(V{}[0]);

/// Shuffles: lane i of the result is lane Order::from(i, lanes) of the lanes of a and, behind them,
/// of b.
template <class Order, class V>
[[gnu::always_inline]] inline V shuffled(V a, V b) {
    return [=]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, Order::from(i, lanes_of<V>)...);
    }
    (std::make_integer_sequence<int, lanes_of<V>>{});
}
template <class Order, class V>
[[gnu::always_inline]] inline V shuffled(V vector) {
    return shuffled<Order>(vector, vector);
}

}  // namespace gradcoll
