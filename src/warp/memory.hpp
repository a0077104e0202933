// warp/memory.hpp - how a lane reads and writes its part of an array (src/warp/README.md).
//
// Everything here stays in registers: arrays are indexed by constants once the loops are unrolled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gradcoll {

/// Words is what one instruction moves: 4, 8 or 16 bytes, aligned to as many.
template <int count>
struct alignas(4 * count) Words {
    std::uint32_t word[count];
};

/// A Run is `n` neighbouring elements of an array, held by one lane.
template <class Bits, int n>
struct Run {
    Bits at[n];
};

/// Nothing is the type of an array that an operation does not have.
struct Nothing {};

template <std::size_t alignment>
constexpr bool is_aligned(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

template <class Bits>
constexpr Bits part_of(const std::uint32_t* words, int i) {
    if constexpr (sizeof(Bits) == 8) {
        return words[2 * i] | static_cast<Bits>(words[2 * i + 1]) << 32;
    } else {
        constexpr int per_word = static_cast<int>(4 / sizeof(Bits));
        constexpr int bits = static_cast<int>(8 * sizeof(Bits));
        return static_cast<Bits>(words[i / per_word] >> (i % per_word * bits));
    }
}

/// Returns word k of the elements.
template <class Bits, int n>
constexpr std::uint32_t word_of(const Run<Bits, n>& run, int k) {
    if constexpr (sizeof(Bits) == 8) {
        return static_cast<std::uint32_t>(run.at[k / 2] >> (k % 2 * 32));
    } else {
        constexpr int per_word = static_cast<int>(4 / sizeof(Bits));
        constexpr int bits = static_cast<int>(8 * sizeof(Bits));
        std::uint32_t word = 0;
#pragma unroll
        for (int i = 0; i < per_word; ++i)
            word |= static_cast<std::uint32_t>(run.at[k * per_word + i]) << (i * bits);
        return word;
    }
}

/// This many words of a run go with one instruction.
template <class Bits, int n>
inline constexpr int words_at_once = n * sizeof(Bits) % 16 == 0  ? 4
                                     : n * sizeof(Bits) % 8 == 0 ? 2
                                                                 : 1;

/// Loads a run. One of 16 bytes or a multiple is aligned to 16, a smaller one to its size.
template <class Warp, class Bits, int n>
constexpr Run<Bits, n> load_run(const std::byte* from) {
    Run<Bits, n> run{};
    if constexpr (n == 1 && sizeof(Bits) < 4) {
        run.at[0] = Warp::template load<Bits>(from);
    } else {
        constexpr int count = static_cast<int>(n * sizeof(Bits) / 4);
        constexpr int wide = words_at_once<Bits, n>;
        std::uint32_t words[count] = {};
#pragma unroll
        for (int k = 0; k < count; k += wide) {
            const auto part = Warp::template load<Words<wide>>(from + 4 * k);
#pragma unroll
            for (int j = 0; j < wide; ++j) words[k + j] = part.word[j];
        }
#pragma unroll
        for (int i = 0; i < n; ++i) run.at[i] = part_of<Bits>(words, i);
    }
    return run;
}

template <class Warp, class Bits, int n>
constexpr void store_run(std::byte* to, const Run<Bits, n>& run) {
    if constexpr (n == 1 && sizeof(Bits) < 4) {
        Warp::template store<Bits>(to, run.at[0]);
    } else {
        constexpr int count = static_cast<int>(n * sizeof(Bits) / 4);
        constexpr int wide = words_at_once<Bits, n>;
#pragma unroll
        for (int k = 0; k < count; k += wide) {
            Words<wide> part{};
#pragma unroll
            for (int j = 0; j < wide; ++j) part.word[j] = word_of(run, k + j);
            Warp::store(to + 4 * k, part);
        }
    }
}

/// Loads elements first, first + 1, ... of an array; of no array, nothing.
template <class Warp, class T, int n>
constexpr Run<T, n> load_elements(const std::byte* array, std::size_t first) {
    if constexpr (std::is_same_v<T, Nothing>)
        return {};
    else
        return load_run<Warp, T, n>(array + first * sizeof(T));
}
template <class Warp, class T, int n>
constexpr void store_elements(std::byte* array, std::size_t first, const Run<T, n>& run) {
    if constexpr (!std::is_same_v<T, Nothing>) store_run<Warp>(array + first * sizeof(T), run);
}

/// Loads one element at any multiple of two bytes: by halves where it is not aligned to its size.
template <class Warp, class Bits>
constexpr Bits load_any(const std::byte* from) {
    if constexpr (sizeof(Bits) > 2) {
        if (!is_aligned<sizeof(Bits)>(from)) {
            Bits value = 0;
#pragma unroll
            for (std::size_t h = 0; h < sizeof(Bits) / 2; ++h)
                value |= static_cast<Bits>(Warp::template load<std::uint16_t>(from + 2 * h))
                         << (16 * h);
            return value;
        }
    }
    return Warp::template load<Bits>(from);
}
template <class Warp, class Bits>
constexpr void store_any(std::byte* to, Bits value) {
    if constexpr (sizeof(Bits) > 2) {
        if (!is_aligned<sizeof(Bits)>(to)) {
#pragma unroll
            for (std::size_t h = 0; h < sizeof(Bits) / 2; ++h)
                Warp::store(to + 2 * h, static_cast<std::uint16_t>(value >> (16 * h)));
            return;
        }
    }
    Warp::store(to, value);
}

/// Loads one element at any byte.
template <class Warp, class Bits>
constexpr Bits load_anywhere(const std::byte* from) {
    if (is_aligned<2>(from)) return load_any<Warp, Bits>(from);
    Bits value = 0;
#pragma unroll
    for (std::size_t b = 0; b < sizeof(Bits); ++b)
        value = static_cast<Bits>(
            value | static_cast<Bits>(Warp::template load<std::uint8_t>(from + b)) << (8 * b));
    return value;
}
template <class Warp, class Bits>
constexpr void store_anywhere(std::byte* to, Bits value) {
    if (is_aligned<2>(to)) {
        store_any<Warp>(to, value);
        return;
    }
#pragma unroll
    for (std::size_t b = 0; b < sizeof(Bits); ++b)
        Warp::store(to + b, static_cast<std::uint8_t>(value >> (8 * b)));
}

}  // namespace gradcoll
