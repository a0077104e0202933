// One group of N:M: legal masks, and the group in a GPU thread's registers, for all keys that
// matter.
#include "compress/nm/nm_group.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace gradcoll::nm {
namespace {

TEST(NmLayout, LegalWordsHaveExactlyNBitsInEveryGroup) {
    using S = Shape<2, 4>;
    EXPECT_TRUE(S::is_legal(0x33333333u));
    EXPECT_TRUE(S::is_legal(0x9c5a3c69u));
    EXPECT_FALSE(S::is_legal(0x33333337u));
    EXPECT_FALSE(S::is_legal(0x33333317u));  // one bit moved to the neighbour
    EXPECT_FALSE(S::is_legal(0));
    EXPECT_TRUE((Shape<1, 16>::is_legal(0x80000001u)));
    EXPECT_FALSE((Shape<1, 16>::is_legal(0x00030000u)));
}

/// Computes the mask from the definition: an element is kept if fewer than N others go before it.
template <class S>
std::uint32_t kept_by_definition(const std::uint32_t (&key)[S::M]) {
    std::uint32_t kept = 0;
    for (int i = 0; i < S::M; ++i) {
        int before = 0;
        for (int j = 0; j < S::M; ++j)
            before += key[j] > key[i] || (key[j] == key[i] && j < i) ? 1 : 0;
        if (before < S::N) kept |= 1u << i;
    }
    return kept;
}

/// Goes through all groups of keys below `values`: every order, with every tie.
template <class S>
void expect_keeps_the_largest(std::uint32_t values) {
    std::uint32_t key[S::M] = {};
    for (;;) {
        ASSERT_EQ((Group<S, std::uint32_t>::kept_bits(key)), kept_by_definition<S>(key));
        int i = 0;
        while (i < S::M && ++key[i] == values) key[i++] = 0;
        if (i == S::M) return;
    }
}

TEST(NmGroup, KeepsTheLargestAndOfEqualOnesTheFirst) {
    expect_keeps_the_largest<Shape<1, 4>>(5);
    expect_keeps_the_largest<Shape<2, 4>>(5);
    expect_keeps_the_largest<Shape<1, 8>>(4);
    expect_keeps_the_largest<Shape<2, 8>>(5);
    expect_keeps_the_largest<Shape<4, 8>>(5);
    expect_keeps_the_largest<Shape<1, 16>>(2);
}

template <class S>
void expect_packs_and_unpacks() {
    using InGroup = Group<S, std::uint16_t>;
    for (std::uint32_t kept = 0; kept < 1u << S::M; ++kept) {
        if (std::popcount(kept) != S::N) continue;
        std::uint16_t value[S::M], packed[S::N], back[S::M];
        for (int i = 0; i < S::M; ++i) value[i] = static_cast<std::uint16_t>(100 + i);
        InGroup::pack(value, kept, packed);
        int n = 0;
        for (int i = 0; i < S::M; ++i)
            if (keeps(kept, static_cast<unsigned>(i))) {
                ASSERT_EQ(packed[n++], value[i]) << kept;
            }
        InGroup::unpack(packed, kept, back);
        for (int i = 0; i < S::M; ++i)
            ASSERT_EQ(back[i], keeps(kept, static_cast<unsigned>(i)) ? value[i] : 0) << kept;
    }
}

TEST(NmGroup, PacksInOrderAndPutsBackForEveryMask) {
    expect_packs_and_unpacks<Shape<1, 4>>();
    expect_packs_and_unpacks<Shape<2, 4>>();
    expect_packs_and_unpacks<Shape<1, 8>>();
    expect_packs_and_unpacks<Shape<2, 8>>();
    expect_packs_and_unpacks<Shape<4, 8>>();
    expect_packs_and_unpacks<Shape<1, 16>>();
}

TEST(NmGroup, AKeyIsTheBitsWithoutTheSign) {
    EXPECT_EQ((Group<Shape<2, 4>, std::uint16_t>::key_of(0xff81)), 0x7f81u);
    EXPECT_EQ((Group<Shape<2, 4>, std::uint32_t>::key_of(0x80000000u)), 0u);
    EXPECT_EQ((Group<Shape<2, 4>, std::uint64_t>::key_of(0xfff0000000000001u)),
              0x7ff0000000000001u);
}

}  // namespace
}  // namespace gradcoll::nm
