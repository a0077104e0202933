// compress/quant/quant_nibbles.hpp - codes of 4 bits as bytes on the stack, a block at a time:
// two neighbours are one byte of the message, the first in its low half.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/quant/quant_layout.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::quant {
namespace {

template <class Isa, std::size_t block>
class NibbleRoom {
  public:
    /// Returns where to put a block's codes as bytes; then pack() packs them.
    std::byte* codes_for(std::byte*) { return bytes_; }
    void pack(std::byte* out) const {
        for (std::size_t at = 0; at < block; at += 2 * Isa::vector_bytes)
            store_vector(
                out + at / 2,
                shuffled<EvenBytes>(paired(bytes_ + at), paired(bytes_ + at + Isa::vector_bytes)));
    }
    /// Returns the codes of a message as bytes.
    const std::byte* codes_of(const std::byte* in) {
        for (std::size_t at = 0; at < block; at += 2 * Isa::vector_bytes) {
            const auto packed = load_vector<Bytes>(in + at / 2);
            store_vector(bytes_ + at, split(shuffled<LowerTwice>(packed)));
            store_vector(bytes_ + at + Isa::vector_bytes, split(shuffled<UpperTwice>(packed)));
        }
        return bytes_;
    }

  private:
    using Bytes = Vector<std::int8_t, Isa::vector_bytes>;
    using Words = Vector<std::uint16_t, Isa::vector_bytes / 2>;

    struct EvenBytes {
        static constexpr int from(int i, int) { return 2 * i; }
    };
    struct LowerTwice {
        static constexpr int from(int i, int) { return i / 2; }
    };
    struct UpperTwice {
        static constexpr int from(int i, int lanes) { return (lanes + i) / 2; }
    };

    /// Packs two codes into the low byte of each word.
    static Bytes paired(const std::byte* codes) {
        const auto words = load_vector<Words>(codes);
        return bit_copy<Bytes>((words & 0x000f) | (words >> 4 & 0x00f0));
    }
    /// Splits words with the same byte in both halves: the low nibble goes below, the high nibble
    /// above, each with its sign.
    static Bytes split(Bytes twice) {
        const auto words = bit_copy<Words>(twice);
        const auto nibbles = bit_copy<Bytes>((words & 0x000f) | (words >> 4 & 0x0f00));
        return (nibbles ^ 8) - 8;
    }

    alignas(64) std::byte bytes_[block];
};

/// NoRoom is for codes of whole bytes, which are used where they are.
struct NoRoom {
    static std::byte* codes_for(std::byte* out) { return out; }
    static void pack(std::byte*) {}
    static const std::byte* codes_of(const std::byte* in) { return in; }
};

}  // namespace
}  // namespace gradcoll::quant
