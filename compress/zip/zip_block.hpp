// compress/zip/zip_block.hpp - a block of elements in parts: a high byte and the rest of each, and
// the marks of zeros (README.md). Compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/zip/zip_bytes.hpp"
#include "compress/zip/zip_layout.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::zip {
namespace {

/// Bytes are one for each element of a block, in vectors.
template <class Isa>
struct Bytes {
    static constexpr std::size_t lanes = ByteMoves<Isa>::vector_bytes;
    using Part = Vector<std::uint8_t, lanes>;
    static_assert(group_elems % lanes == 0);

    alignas(64) std::uint8_t at[block_elems];

    [[gnu::always_inline]] Part load(std::size_t i) const { return load_vector<Part>(at + i); }
    [[gnu::always_inline]] void store(std::size_t i, Part part) { store_vector(at + i, part); }

    /// Returns a bit for each byte from `first` on, set where `holds(part)`, a comparison, does.
    template <class Holds>
    [[gnu::always_inline]] std::uint64_t bits(std::size_t first, const Holds& holds) const {
        alignas(64) std::uint8_t marks[group_elems];
        for (std::size_t i = 0; i < group_elems; i += lanes)
            store_vector(marks + i, holds(load(first + i)));
        return ByteMoves<Isa>::top_bits(marks);
    }
    /// Returns the largest of the first bytes.
    std::uint8_t largest(std::size_t count) const {
        Part most{};
        const std::size_t whole = count / lanes * lanes;
        for (std::size_t i = 0; i < whole; i += lanes) {
            const Part part = load(i);
            most = part > most ? part : most;
        }
        std::uint8_t largest = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            largest = most[lane] > largest ? most[lane] : largest;
        for (std::size_t i = whole; i < count; ++i) largest = at[i] > largest ? at[i] : largest;
        return largest;
    }
    /// Turns high bytes into how far each is below `base`, and back. What is behind `count`, up to
    /// a whole group, becomes 0.
    void count_down_from(std::uint8_t base, std::size_t count) {
        const std::size_t end = groups_of(count) * group_elems;
        for (std::size_t i = count; i < end; ++i) at[i] = base;
        for (std::size_t i = 0; i < end; i += lanes) store(i, base - load(i));
    }
};

/// Words are the elements of a block as whole numbers. An element is a sign, the eight bits below
/// it, which are its high byte, and what is below these; sign and what is below are its rest.
template <class Isa, class Bits>
struct Words {
    static constexpr std::size_t lanes = ByteMoves<Isa>::vector_bytes / sizeof(Bits);
    static constexpr unsigned low_bits = 8 * sizeof(Bits) - 9;
    static constexpr std::size_t rest_bytes = sizeof(Bits) - 1;
    static constexpr Bits low_mask = static_cast<Bits>((Bits{1} << low_bits) - 1);
    using Part = Vector<Bits, lanes>;
    using Moves = ByteMoves<Isa>;

    alignas(64) Bits at[block_elems];

    [[gnu::always_inline]] Part load(std::size_t i) const { return load_vector<Part>(at + i); }

    /// Takes every element apart: its high byte, and 0xff in `full` unless it is +0. Returns the
    /// bits that the rest of any of them has. What is behind `count`, up to a whole group, must be
    /// there.
    Bits survey(std::size_t count, Bytes<Isa>& high, Bytes<Isa>& full) const {
        Part any{};
        for (std::size_t i = 0; i < groups_of(count) * group_elems; i += lanes) {
            const Part words = load(i);
            any |= rest_of(words);
            Moves::store_low_bytes(high.at + i, words >> low_bits);
            const Part marks = words != 0 ? ~Part{} : Part{};
            Moves::store_low_bytes(full.at + i, marks);
        }
        Bits bits = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) bits |= any[lane];
        return bits;
    }
    /// Writes one byte of the rest of each of the first elements.
    std::byte* write_rest(std::size_t byte, std::size_t count, std::byte* out) const {
        const std::size_t whole = count / lanes * lanes;
        for (std::size_t i = 0; i < whole; i += lanes)
            Moves::store_low_bytes(out + i, rest_of(load(i)) >> (8 * byte));
        if (whole < count) {
            std::byte last[lanes];
            Moves::store_low_bytes(last, rest_of(load(whole)) >> (8 * byte));
            std::memcpy(out + whole, last, count - whole);
        }
        return out + count;
    }
    /// Puts elements together. `rest` has an array for each byte of their rests, the lowest first;
    /// those before `first_byte` are not there, and 0.
    void join(const Bytes<Isa>& high, const Bytes<Isa>* rest, std::size_t first_byte,
              std::size_t count) {
        for (std::size_t i = 0; i < count; i += lanes) {
            Part words = Moves::template load_bytes<Part>(high.at + i) << low_bits;
            Part below{};
            for (std::size_t byte = first_byte; byte < rest_bytes; ++byte)
                below |= Moves::template load_bytes<Part>(rest[byte].at + i) << (8 * byte);
            words |= below & low_mask;
            words |= below >> low_bits << (8 * sizeof(Bits) - 1);
            store_vector(at + i, words);
        }
    }

  private:
    [[gnu::always_inline]] static Part rest_of(Part words) {
        return (words & low_mask) | words >> (8 * sizeof(Bits) - 1) << low_bits;
    }
};

}  // namespace
}  // namespace gradcoll::zip
