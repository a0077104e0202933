// tests/soak/hard_numbers.hpp - numbers that are hard to add, and the types that they are stored
// in.
#pragma once

#include <gradcoll.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/half.hpp"
#include "soak/dice.hpp"

namespace gradcoll::soak {

inline std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}
/// Returns a number from 0 to 1.
inline double part(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Numbers are those of one call: every rank can compute those of all.
struct Numbers {
    std::uint64_t seed = 0;
    int kind = 0;
    int ranks = 1;
    double scale = 1;
    double largest = 1;  ///< largest number of the type

    static constexpr int kinds = 11;

    double of(int rank, std::uint64_t index) const {
        const std::uint64_t bits = mixed(seed + index * 0x9e3779b97f4a7c15U +
                                         static_cast<std::uint64_t>(rank) * 0xd1b54a32d192ed03U);
        const double u = part(bits), even = 2 * u - 1;
        const std::uint64_t alike = mixed(seed ^ (index + 1));  // the same on all ranks
        const double sign = rank % 2 == 0 ? 1 : -1;
        switch (kind) {
            case 0:
                return scale * even;
            case 1:  // nearly normal
                return scale * (even + part(mixed(bits)) + part(mixed(bits + 1)) - 1);
            case 2:  // large ones that cancel
                return scale * (sign * 1e4 * (1 + part(alike)) + even);
            case 3:  // few far out
                return scale * even * (mixed(bits) % 5000 == 0 ? 1e5 : 1);
            case 4:  // of all sizes
                return even * std::pow(largest, 1.6 * part(mixed(bits)) - 0.8);
            case 5:  // the same everywhere
                return scale * (0.1 + rank);
            case 6:  // whole numbers
                return std::floor(1000 * even);
            case 7:  // near the end of the type, some of them cancelling
                return largest * (alike % 3 == 0 ? sign * 0.9 : (0.2 + 0.79 * u) / ranks);
            case 8:  // down to the smallest
                return even * std::pow(2.0, -130 - 20 * part(mixed(bits)));
            case 9:  // mostly zeros, of both signs
                return mixed(bits) % 10 == 0 ? scale * even : even < 0 ? -0.0 : 0.0;
            default:  // some that are none
                if (mixed(bits) % 3000 == 0) return bits % 3 == 0 ? NAN : sign * HUGE_VAL;
                return scale * even;
        }
    }
};

/// An Element is a type of elements: how a number is stored, and what an element means.
struct Element {
    const char* name;
    MPI_Datatype datatype;
    ElementType type;

    void store(double value, std::byte* to) const {
        const auto put = [to](auto bits) { std::memcpy(to, &bits, sizeof bits); };
        const auto narrow = static_cast<float>(value);
        switch (type) {
            case ElementType::f16:
                return put(f16_from_float(narrow));
            case ElementType::bf16:
                return put(bf16_from_float(narrow));
            case ElementType::f64:
                return put(value);
            default:
                return put(narrow);
        }
    }
    double load(const std::byte* from) const {
        const auto got = [from](auto bits) {
            std::memcpy(&bits, from, sizeof bits);
            return bits;
        };
        switch (type) {
            case ElementType::f16:
                return float_from_f16(got(std::uint16_t{}));
            case ElementType::bf16:
                return float_from_bf16(got(std::uint16_t{}));
            case ElementType::f64:
                return got(double{});
            default:
                return got(float{});
        }
    }
    double as_element(double value) const {
        std::byte room[8];
        store(value, room);
        return load(room);
    }
};

/// Elements has the types that floats are stored in. MPI must have been started.
struct Elements {
    const Element all[4] = {{"fp16", GC_Type_float16(), ElementType::f16},
                            {"bf16", GC_Type_bfloat16(), ElementType::bf16},
                            {"fp32", MPI_FLOAT, ElementType::f32},
                            {"fp64", MPI_DOUBLE, ElementType::f64}};
    const Element& any_of(Dice& dice) const { return all[dice.below(4)]; }
};

}  // namespace gradcoll::soak
