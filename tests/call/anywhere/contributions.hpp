// Vectors of contributions, and the sum that one rank makes of all of them at once.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "api/api_support.hpp"
#include "reduce/grid.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll::test {

template <class T>
constexpr ElementType type_of = sizeof(T) == 4 ? ElementType::f32 : ElementType::f64;
template <class T>
MPI_Datatype datatype_of() {
    return sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE;
}

enum class Data { plain, far_apart, cancelling, special };

/// Returns the vector of a contribution, whoever has it.
template <class T>
std::vector<T> vector_of(Data data, int contribution, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double value = value_at(contribution, i);
        const auto bits = mix(i * 31 + static_cast<std::size_t>(contribution));
        values[i] = static_cast<T>(value);
        if (data == Data::far_apart)
            values[i] = static_cast<T>(std::ldexp(value, -static_cast<int>(bits % 40)));
        if (data == Data::cancelling)
            values[i] = static_cast<T>(contribution % 2 == 0 ? 1e6 + value : value - 1e6);
        if (data == Data::special && bits % 97 < 3)
            values[i] = bits % 97 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                       : std::copysign(std::numeric_limits<T>::infinity(),
                                                       bits % 2 == 0 ? T(1) : T(-1));
    }
    return values;
}

template <class T>
std::vector<T> sum_of_all(Data data, int contributions, std::size_t count) {
    std::vector<std::vector<T>> inputs;
    std::vector<const void*> sources;
    for (int i = 0; i < contributions; ++i) inputs.push_back(vector_of<T>(data, i, count));
    for (const auto& input : inputs) sources.push_back(input.data());
    std::vector<T> sum(count);
    reduce_many(grid_reducer(type_of<T>), sources, sum.data(), count, false);
    return sum;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

constexpr std::size_t lengths[] = {1, 5, 256, 257, 3000, 70'001};

}  // namespace gradcoll::test
