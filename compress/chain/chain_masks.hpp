// compress/chain/chain_masks.hpp - the mask of a block in three quarters of its words.
//
// Of the four bits of a group the last one follows from the others, also in a flooded group. The
// last four words of a block give their bits away: bit 0 of each group goes to the free place in
// words 0 to 3, bit 1 to words 4 to 7, bit 2 to words 8 to 11.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/chain/chain_layout.hpp"
#include "reduce/vector.hpp"

namespace gradcoll::chain {
namespace {

using FourWords = Vector<std::uint32_t, 4>;
inline constexpr std::size_t given_away = packed_mask_bytes;  // where the last four words begin

inline void pack_masks(const std::byte* masks, std::byte* out) {
    const auto last = load_vector<FourWords>(masks + given_away);
    for (int k = 0; k < 3; ++k) {
        const auto own = load_vector<FourWords>(masks + k * sizeof(FourWords));
        store_vector(out + k * sizeof own, (own & first_three) | (last << (3 - k) & last_of_four));
    }
}

template <class S>
inline void unpack_masks(const std::byte* in, std::byte* masks) {
    FourWords last{};
    for (int k = 0; k < 3; ++k) {
        const auto packed = load_vector<FourWords>(in + k * sizeof last);
        last |= (packed & last_of_four) >> (3 - k);
        store_vector(masks + k * sizeof last, with_last_bits<S>(packed & first_three));
    }
    store_vector(masks + given_away, with_last_bits<S>(last));
}

}  // namespace
}  // namespace gradcoll::chain
