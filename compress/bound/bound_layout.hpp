// compress/bound/bound_layout.hpp - how long blocks are, and what their headers say
// (compress/bound/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gradcoll::bound {
namespace {

inline constexpr std::size_t block_elems = 512;
/// A row is this many elements next to each other, which lie in lanes of their own.
inline constexpr std::size_t row_elems = 16;
inline constexpr std::size_t row_bytes = row_elems * sizeof(std::uint32_t);

constexpr std::size_t rows_of(std::size_t elems) {
    return (elems + row_elems - 1) / row_elems;
}
/// Returns the size of the codes: every lane packs its codes in whole words.
constexpr std::size_t codes_bytes(int width, std::size_t elems) {
    return row_bytes * ((rows_of(elems) * static_cast<std::size_t>(width) + 31) / 32);
}

inline constexpr std::size_t mark_bytes = 4;  // length of the mark of a block of plain elements
constexpr std::size_t plain_bytes(std::size_t elem_bytes, std::size_t elems) {
    return mark_bytes + elem_bytes * elems;
}
constexpr std::size_t most_bytes(std::size_t elem_bytes, std::size_t count) {
    return elem_bytes * count + (count + block_elems - 1) / block_elems * mark_bytes;
}

/// Header uses `Wide`, the type that is calculated in: fp32, or fp64 for fp64.
template <class Wide>
struct Header {
    int width = 0;  ///< bits of a code; 0: `step` is the value of all elements
    bool has_differences = false;
    std::uint32_t start = 0;  ///< the code that packed codes, or their sums, are added to
    std::uint32_t least_difference = 0;
    Wide step = 0;

    static constexpr std::size_t bytes(bool has_differences) {
        return (is_fp64 ? 16 : 8) + (has_differences ? 4 : 0);
    }
    std::size_t bytes() const { return bytes(has_differences); }

    void write(std::byte* out) const {
        const auto kind = static_cast<std::uint32_t>(width) | (has_differences ? differences : 0u);
        put(out, is_fp64 ? kind : kind | start << 8);
        if (is_fp64) put(out + 4, start);
        std::memcpy(out + step_at, &step, sizeof step);
        if (has_differences) put(out + step_at + sizeof step, least_difference);
    }

    /// `in` holds the first word, which is not plain_mark, and nothing if `left` is less.
    static bool read(const std::byte* in, std::size_t left, Header& header) {
        const std::uint32_t word = get(in);
        header.width = static_cast<int>(word & 0x3f);
        header.has_differences = (word & differences) != 0;
        if ((word & 0x80) != 0 || header.bytes() > left) return false;
        if (is_fp64 && word >> 8 != 0) return false;
        header.start = is_fp64 ? get(in + 4) : from_24_bits(word >> 8);
        std::memcpy(&header.step, in + step_at, sizeof header.step);
        if (header.has_differences)
            header.least_difference = get(in + step_at + sizeof header.step);
        return header.is_good();
    }

    static std::uint32_t get(const std::byte* from) {
        std::uint32_t word;
        std::memcpy(&word, from, sizeof word);
        return word;
    }
    static void put(std::byte* to, std::uint32_t word) { std::memcpy(to, &word, sizeof word); }

    static constexpr int most_width = sizeof(Wide) == 8 ? 32 : 22;

  private:
    static constexpr bool is_fp64 = sizeof(Wide) == 8;
    static constexpr std::size_t step_at = is_fp64 ? 8 : 4;
    static constexpr std::uint32_t differences = 0x40;

    static std::uint32_t from_24_bits(std::uint32_t bits) { return (bits ^ 0x800000u) - 0x800000u; }
    bool is_good() const {
        if (!(step - step == Wide{0}) || width > most_width) return false;
        if (width == 0) return !has_differences && start == 0;
        return step > 0;
    }
};

/// A block of plain elements has this first word.
inline constexpr std::uint32_t plain_mark = 0xff;

}  // namespace
}  // namespace gradcoll::bound
