// reduce/grid_kernels.cpp - sums on a grid, written once on GNU vector types. The build compiles
// this once for each instruction set, and everything hangs on the parameter Target for the reason
// that kernels.cpp gives.
//
// A number is rounded to a whole multiple of a power of two by adding a constant so large that the
// sum's last place is that power, and taking the constant away again. As integers, the bits of that
// sum and of the constant differ by the multiple.
#include "reduce/grid_kernels.hpp"

#include <cstring>

#include "reduce/half.hpp"
#include "reduce/vector.hpp"

namespace gradcoll {

/// LanesOf are as many doubles as Target has in a vector, and as many of what becomes of them.
template <class Target>
struct LanesOf {
    static constexpr std::size_t count = Target::vector_bytes / sizeof(double);
    using Doubles = Vector<double, count>;
    using Words = Vector<std::int64_t, count>;
    using Floats = Vector<float, count>;
    using FloatBits = Vector<std::uint32_t, count>;
    using HalfBits = Vector<std::uint16_t, count>;
};

constexpr int grid_bits = 46;    ///< bits of the first word below the leading one of the block
constexpr int second_bits = 47;  ///< bits of the second word below the first

/// Returns 2 to the power of `exponent`, which a normal double has.
[[gnu::always_inline]] constexpr double power_of_two(int exponent) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}
/// Returns the constant that rounds to multiples of 2 to the power of `exponent`.
[[gnu::always_inline]] constexpr double rounding_constant(int exponent) {
    return 1.5 * power_of_two(exponent + 52);
}

/// Returns a double near each, whose last bit tells what was lost: a rounding of it to a type of at
/// most 51 bits is that of the whole number.
template <class Lanes>
[[gnu::always_inline]] inline typename Lanes::Doubles to_odd_doubles(typename Lanes::Words words) {
    using Doubles = typename Lanes::Doubles;
    using Words = typename Lanes::Words;
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    const Words is_large = (words >= exact) | (words <= -exact);
    const Words lost = (words & 0x7ff) != 0;
    const Words shifted = (words >> 11) | (lost & 1);
    const Doubles scale = is_large ? Doubles{} + 2048.0 : Doubles{} + 1.0;
    return __builtin_convertvector(is_large ? shifted : words, Doubles) * scale;
}

/// Returns fp32 near each, whose last bit tells what was lost.
template <class Lanes>
[[gnu::always_inline]] inline typename Lanes::FloatBits to_odd_floats(
    typename Lanes::Doubles values) {
    constexpr std::int64_t below = (std::int64_t{1} << 29) - 1;
    using Words = typename Lanes::Words;
    const Words bits = __builtin_bit_cast(Words, values);
    const Words lost = ((bits & below) != 0) & (below + 1);
    const Words odd = (bits & ~below) | lost;
    return __builtin_bit_cast(
        typename Lanes::FloatBits,
        __builtin_convertvector(__builtin_bit_cast(typename Lanes::Doubles, odd),
                                typename Lanes::Floats));
}

// The formats say how elements become doubles, and how doubles are rounded to elements.

template <class Target>
struct GridF32 : LanesOf<Target> {
    using Lanes = LanesOf<Target>;
    using Bits = std::int32_t;
    static constexpr int bias = 127;
    [[gnu::always_inline]] static typename Lanes::Doubles load(const unsigned char* from) {
        return __builtin_convertvector(load_vector<typename Lanes::Floats>(from),
                                       typename Lanes::Doubles);
    }
    [[gnu::always_inline]] static void store(unsigned char* to, typename Lanes::Doubles values) {
        store_vector(to, __builtin_convertvector(values, typename Lanes::Floats));
    }
};

/// GridHalf is a type of 16 bits; `Half` says how it becomes fp32, and fp32 becomes it.
template <class Target, class Half>
struct GridHalf : LanesOf<Target> {
    using Lanes = LanesOf<Target>;
    using Floats = typename Lanes::Floats;
    using Bits = std::int16_t;
    static constexpr int bias = Half::bias;
    [[gnu::always_inline]] static typename Lanes::Doubles load(const unsigned char* from) {
        const auto halves = __builtin_convertvector(load_vector<typename Lanes::HalfBits>(from),
                                                    typename Lanes::FloatBits);
        const auto bits = Half::template widened<Floats>(halves);
        return __builtin_convertvector(__builtin_bit_cast(Floats, bits), typename Lanes::Doubles);
    }
    [[gnu::always_inline]] static void store(unsigned char* to, typename Lanes::Doubles values) {
        const auto halves = Half::template narrowed<Floats>(to_odd_floats<Lanes>(values));
        store_vector(to, __builtin_convertvector(halves, typename Lanes::HalfBits));
    }
};

struct GridF16 {
    static constexpr int bias = 15;
    template <class Floats, class Bits>
    [[gnu::always_inline]] static Bits widened(Bits half) {
        return f32_bits_from_f16_bits<Floats>(half);
    }
    template <class Floats, class Bits>
    [[gnu::always_inline]] static Bits narrowed(Bits bits) {
        return f16_bits_from_f32_bits<Floats>(bits);
    }
};
struct GridBf16 {
    static constexpr int bias = 127;
    template <class Floats, class Bits>
    [[gnu::always_inline]] static Bits widened(Bits half) {
        return f32_bits_from_bf16_bits(half);
    }
    template <class Floats, class Bits>
    [[gnu::always_inline]] static Bits narrowed(Bits bits) {
        return bf16_bits_from_f32_bits<Floats>(bits);
    }
};

template <class Target, class Bits>
std::uint64_t largest(const void* in, std::size_t count) {
    using Lanes = Vector<Bits, Target::vector_bytes / sizeof(Bits)>;
    constexpr Bits magnitude = static_cast<Bits>(~(Bits{1} << (8 * sizeof(Bits) - 1)));
    const auto* from = static_cast<const unsigned char*>(in);
    std::size_t bytes = count * sizeof(Bits);
    Lanes most{};
    const auto take = [&](Lanes bits) __attribute__((always_inline)) {
        bits &= magnitude;
        most = bits > most ? bits : most;
    };
    for (; bytes >= sizeof(Lanes); bytes -= sizeof(Lanes), from += sizeof(Lanes))
        take(load_vector<Lanes>(from));
    Lanes rest{};
    if (bytes > 0) std::memcpy(&rest, from, bytes);
    take(rest);
    Bits result = 0;
    for (std::size_t i = 0; i < sizeof(Lanes) / sizeof(Bits); ++i)
        result = most[i] > result ? most[i] : result;
    return static_cast<std::uint64_t>(result);
}

/// Calls `vector(offset)` for all whole vectors, and `rest(offset, count)` for the elements behind
/// them.
template <class Lanes, class Whole, class Rest>
[[gnu::always_inline]] inline void by_vectors(std::size_t count, Whole&& whole, Rest&& rest) {
    std::size_t at = 0;
    for (; at + Lanes::count <= count; at += Lanes::count) whole(at);
    if (at < count) rest(at, count - at);
}

/// Returns the elements behind the last whole vector, and zeros behind them.
template <class Format>
[[gnu::always_inline]] inline typename Format::Doubles load_few(const unsigned char* from,
                                                                std::size_t count) {
    unsigned char padded[Format::count * sizeof(typename Format::Bits)] = {};
    std::memcpy(padded, from, count * sizeof(typename Format::Bits));
    return Format::load(padded);
}
template <class Format>
[[gnu::always_inline]] inline void store_few(unsigned char* to, typename Format::Doubles values,
                                             std::size_t count) {
    unsigned char padded[Format::count * sizeof(typename Format::Bits)];
    Format::store(padded, values);
    std::memcpy(to, padded, count * sizeof(typename Format::Bits));
}

template <class Target, class Format>
void add(const void* const* sources, std::size_t source_count, std::size_t first, std::size_t count,
         int top, void* out) {
    constexpr std::size_t size = sizeof(typename Format::Bits);
    const double constant = rounding_constant(top - Format::bias - grid_bits);
    const auto source = [&](std::size_t s, std::size_t at) __attribute__((always_inline)) {
        return static_cast<const unsigned char*>(sources[s]) + (first + at) * size;
    };
    auto* const to = static_cast<unsigned char*>(out) + first * size;
    by_vectors<Format>(
        count,
        [&](std::size_t at) __attribute__((always_inline)) {
            typename Format::Doubles sum = (Format::load(source(0, at)) + constant) - constant;
            for (std::size_t s = 1; s < source_count; ++s)
                sum += (Format::load(source(s, at)) + constant) - constant;
            Format::store(to + at * size, sum);
        },
        [&](std::size_t at, std::size_t few) __attribute__((always_inline)) {
            typename Format::Doubles sum{};
            for (std::size_t s = 0; s < source_count; ++s)
                sum += (load_few<Format>(source(s, at), few) + constant) - constant;
            store_few<Format>(to + at * size, sum, few);
        });
}

template <class Target, class Format>
void to_words(const void* in, std::size_t count, int top, std::int64_t* words) {
    constexpr std::size_t size = sizeof(typename Format::Bits);
    const double constant = rounding_constant(top - Format::bias - grid_bits);
    const auto bits = __builtin_bit_cast(std::int64_t, constant);
    const auto* const from = static_cast<const unsigned char*>(in);
    using Words = typename Format::Words;
    const auto on_grid = [&](typename Format::Doubles values) __attribute__((always_inline)) {
        return __builtin_bit_cast(Words, values + constant) - bits;
    };
    by_vectors<Format>(
        count,
        [&](std::size_t at) __attribute__((always_inline)) {
            store_vector(words + at, on_grid(Format::load(from + at * size)));
        },
        [&](std::size_t at, std::size_t few) __attribute__((always_inline)) {
            const Words last = on_grid(load_few<Format>(from + at * size, few));
            std::memcpy(words + at, &last, few * sizeof(std::int64_t));
        });
}

template <class Target, class Format>
void from_words(const std::int64_t* words, std::size_t count, int top, void* out) {
    using Lanes = typename Format::Lanes;
    constexpr std::size_t size = sizeof(typename Format::Bits);
    const double step = power_of_two(top - Format::bias - grid_bits);
    auto* const to = static_cast<unsigned char*>(out);
    by_vectors<Format>(
        count,
        [&](std::size_t at) __attribute__((always_inline)) {
            Format::store(
                to + at * size,
                to_odd_doubles<Lanes>(load_vector<typename Lanes::Words>(words + at)) * step);
        },
        [&](std::size_t at, std::size_t few) __attribute__((always_inline)) {
            typename Lanes::Words last{};
            std::memcpy(&last, words + at, few * sizeof(std::int64_t));
            store_few<Format>(to + at * size, to_odd_doubles<Lanes>(last) * step, few);
        });
}

// fp64 has two words: multiples of the step of the first, and what is left in multiples of that of
// the second. Blocks near the ends of the type's range are calculated at another scale.

struct WideGrid {
    double scale, back;    ///< powers of two, `back` of what `scale` is divided by
    double first, second;  ///< rounding constants

    [[gnu::always_inline]] explicit WideGrid(int top) {
        const int exponent = top - 1023;
        const int shift = exponent > 900 ? -200 : exponent < -800 ? 200 : 0;
        scale = power_of_two(shift);
        back = power_of_two(-shift);
        first = rounding_constant(exponent + shift - grid_bits);
        second = rounding_constant(exponent + shift - grid_bits - second_bits);
    }
};

template <class Target>
void add_f64(const void* const* sources, std::size_t source_count, std::size_t block_first,
             std::size_t count, int top, void* out) {
    using Lanes = LanesOf<Target>;
    using Doubles = typename Lanes::Doubles;
    struct TwoWords {
        Doubles first, second;
    };
    const WideGrid grid(top);
    const auto take = [&](TwoWords & sum, Doubles values) __attribute__((always_inline)) {
        const Doubles scaled = values * grid.scale;
        const Doubles first = (scaled + grid.first) - grid.first;
        sum.first += first;
        sum.second += ((scaled - first) + grid.second) - grid.second;
    };
    const auto source = [&](std::size_t s, std::size_t at) __attribute__((always_inline)) {
        return static_cast<const unsigned char*>(sources[s]) + (block_first + at) * sizeof(double);
    };
    auto* const to = static_cast<unsigned char*>(out) + block_first * sizeof(double);
    by_vectors<Lanes>(
        count,
        [&](std::size_t at) __attribute__((always_inline)) {
            TwoWords sum{};
            for (std::size_t s = 0; s < source_count; ++s)
                take(sum, load_vector<Doubles>(source(s, at)));
            store_vector(to + at * sizeof(double), (sum.first + sum.second) * grid.back);
        },
        [&](std::size_t at, std::size_t few) __attribute__((always_inline)) {
            TwoWords sum{};
            for (std::size_t s = 0; s < source_count; ++s) {
                Doubles values{};
                std::memcpy(&values, source(s, at), few * sizeof(double));
                take(sum, values);
            }
            const Doubles last = (sum.first + sum.second) * grid.back;
            std::memcpy(to + at * sizeof(double), &last, few * sizeof(double));
        });
}

/// Writes the second words behind all first ones.
template <class Target>
void to_words_f64(const void* in, std::size_t count, int top, std::int64_t* words) {
    const WideGrid grid(top);
    const auto bits_first = __builtin_bit_cast(std::int64_t, grid.first);
    const auto bits_second = __builtin_bit_cast(std::int64_t, grid.second);
    const auto* const from = static_cast<const unsigned char*>(in);
    for (std::size_t i = 0; i < count; ++i) {
        double value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        const double scaled = value * grid.scale;
        const double first = scaled + grid.first;
        const double second = (scaled - (first - grid.first)) + grid.second;
        words[i] = __builtin_bit_cast(std::int64_t, first) - bits_first;
        words[count + i] = __builtin_bit_cast(std::int64_t, second) - bits_second;
    }
}

template <class Target>
void from_words_f64(const std::int64_t* words, std::size_t count, int top, void* out) {
    const WideGrid grid(top);
    const int shift_bits = grid.scale == 1.0 ? 0 : (grid.scale > 1.0 ? 200 : -200);
    const double step = power_of_two(top - 1023 + shift_bits - grid_bits - second_bits);
    auto* const to = static_cast<unsigned char*>(out);
    for (std::size_t i = 0; i < count; ++i) {
        const __int128 sum =
            static_cast<__int128>(words[i]) * (std::int64_t{1} << second_bits) + words[count + i];
        const double value = static_cast<double>(sum) * step * grid.back;
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

template <class Target, ElementType type, class Format>
constexpr void add_format(GridTable& table) {
    constexpr auto at = static_cast<std::size_t>(type);
    table.largest[at] = largest<Target, typename Format::Bits>;
    table.add[at] = add<Target, Format>;
    table.to_grid[at] = to_words<Target, Format>;
    table.from_grid[at] = from_words<Target, Format>;
}

template <class Target>
constexpr GridTable make_grid_table() {
    GridTable table{};
    add_format<Target, ElementType::f16, GridHalf<Target, GridF16>>(table);
    add_format<Target, ElementType::bf16, GridHalf<Target, GridBf16>>(table);
    add_format<Target, ElementType::f32, GridF32<Target>>(table);
    constexpr auto f64 = static_cast<std::size_t>(ElementType::f64);
    table.largest[f64] = largest<Target, std::int64_t>;
    table.add[f64] = add_f64<Target>;
    table.to_grid[f64] = to_words_f64<Target>;
    table.from_grid[f64] = from_words_f64<Target>;
    return table;
}

const GridTable& GRADCOLL_OF_SET(grid_table)() {
    static constexpr GridTable table = make_grid_table<vectors::GRADCOLL_ISA>();
    return table;
}

}  // namespace gradcoll
