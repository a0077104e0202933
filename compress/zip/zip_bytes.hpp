// compress/zip/zip_bytes.hpp - between bytes and bits, and between bytes and wider words: for any
// CPU. zip_bytes_avx2.hpp and zip_bytes_avx512.hpp do the same with instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/vector.hpp"

namespace gradcoll::zip {
namespace {

template <class Isa>
struct ByteMoves {
    static constexpr std::size_t vector_bytes = 16;  // compilers lower it to whatever there is

    /// Returns the highest bit of each of 64 bytes.
    static std::uint64_t top_bits(const std::uint8_t* bytes) {
        std::uint64_t bits = 0;
        for (unsigned i = 0; i < 64; i += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, bytes + i, sizeof eight);
            eight = eight >> 7 & 0x0101010101010101;
            bits |= (eight * 0x0102040810204080) >> 56 << i;
        }
        return bits;
    }
    /// Adds `one` to each of 64 bytes whose bit is set.
    static void add_where(std::uint64_t bits, std::uint8_t one, std::uint8_t* bytes) {
        for (unsigned i = 0; i < 64; ++i)
            bytes[i] = static_cast<std::uint8_t>(bytes[i] + one * (bits >> i & 1));
    }
    /// Stores the lowest byte of each word.
    template <class V>
    [[gnu::always_inline]] static void store_low_bytes(void* to, V words) {
        std::uint8_t bytes[lanes_of<V>];
        for (int lane = 0; lane < lanes_of<V>; ++lane)
            bytes[lane] = static_cast<std::uint8_t>(words[lane]);
        std::memcpy(to, bytes, sizeof bytes);
    }
    /// Loads a byte for each word.
    template <class V>
    [[gnu::always_inline]] static V load_bytes(const std::uint8_t* from) {
        V words{};
        for (int lane = 0; lane < lanes_of<V>; ++lane) words[lane] = from[lane];
        return words;
    }
};

}  // namespace
}  // namespace gradcoll::zip
