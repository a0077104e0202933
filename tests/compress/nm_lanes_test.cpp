// The lane algorithm that GPU warps run, driven here on an emulated warp: the same bytes as the
// scalar encoder.
#include "compress/nm/nm_lanes.hpp"

#include <array>
#include <bit>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

/// Thirty-two lanes in lock step: every operation is done for all lanes before the next one begins.
struct EmulatedWarp {
    using Keys = std::array<std::int64_t, 32>;
    using Flags = std::array<bool, 32>;

    template <class F>
    static auto each_lane(F f) {
        std::array<decltype(f(0u)), 32> out;
        for (unsigned lane = 0; lane < 32; ++lane) out[lane] = f(lane);
        return out;
    }
    template <int x>
    static Keys exchange(const Keys& keys) {
        return each_lane([&](unsigned lane) { return keys[lane ^ x]; });
    }
    template <int M, int r>
    static Keys ahead(const Keys& keys) {
        return each_lane([&](unsigned lane) { return keys[lane / M * M + (lane + r) % M]; });
    }
    template <int M, int below>
    static Keys less_one_below(const Keys& keys) {
        return each_lane([&](unsigned lane) { return keys[lane] - (lane % M < below ? 1 : 0); });
    }
    static Keys max(const Keys& a, const Keys& b) {
        return each_lane([&](unsigned lane) { return std::max(a[lane], b[lane]); });
    }
    static Flags equal(const Keys& a, const Keys& b) {
        return each_lane([&](unsigned lane) { return a[lane] == b[lane]; });
    }
    static Flags greater(const Keys& a, const Keys& b) {
        return each_lane([&](unsigned lane) { return a[lane] > b[lane]; });
    }
    static std::uint32_t ballot(const Flags& flags) {
        std::uint32_t word = 0;
        for (unsigned lane = 0; lane < 32; ++lane) word |= std::uint32_t{flags[lane]} << lane;
        return word;
    }
};

/// One whole block, window by window, as the lanes of a warp write it.
template <class S>
Bytes encode_block_by_lanes(ElementType type, const Bytes& plain) {
    const std::size_t elem = element_bytes(type);
    Bytes out(nm::block_bytes<S>(elem));
    for (std::size_t w = 0; w < nm::block_words; ++w) {
        const auto bits = EmulatedWarp::each_lane(
            [&](unsigned lane) { return element(plain, type, w * 32 + lane); });
        const auto keys = EmulatedWarp::each_lane([&](unsigned lane) {
            return static_cast<std::int64_t>(bits[lane] & ~(1ull << (elem * 8 - 1)));
        });
        const std::uint32_t word = nm::kept_word<EmulatedWarp, S>(keys);
        std::memcpy(out.data() + 4 * w, &word, sizeof word);
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!nm::keeps(word, lane)) continue;
            const auto before =
                static_cast<std::size_t>(std::popcount(nm::kept_before(word, lane)));
            std::memcpy(out.data() + nm::block_mask_bytes + (w * S::window_kept + before) * elem,
                        &bits[lane], elem);
        }
    }
    return out;
}

template <class S>
void expect_lanes_equal_scalar(CodecId codec) {
    for (const ElementType type :
         {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
        for (const Data data : all_data)
            for (std::uint32_t seed = 1; seed <= 8; ++seed) {
                const Bytes plain = make_data(data, type, nm::block_elems, seed);
                Bytes scalar(encoded_bytes(codec, element_bytes(type), nm::block_elems));
                codec_for(codec, type, InstructionSet::scalar)
                    ->encode(plain.data(), nm::block_elems, scalar.data());
                ASSERT_EQ(encode_block_by_lanes<S>(type, plain), scalar) << name_of(type);
            }
}

TEST(NmLanes, AnEmulatedWarpEncodesTheBytesOfTheScalarReference) {
    expect_lanes_equal_scalar<nm::Shape<1, 4>>(CodecId::nm_1_4);
    expect_lanes_equal_scalar<nm::Shape<2, 4>>(CodecId::nm_2_4);
    expect_lanes_equal_scalar<nm::Shape<1, 8>>(CodecId::nm_1_8);
    expect_lanes_equal_scalar<nm::Shape<2, 8>>(CodecId::nm_2_8);
    expect_lanes_equal_scalar<nm::Shape<4, 8>>(CodecId::nm_4_8);
    expect_lanes_equal_scalar<nm::Shape<1, 16>>(CodecId::nm_1_16);
}

TEST(NmLayout, LegalWordsHaveExactlyNBitsInEveryGroup) {
    using S = nm::Shape<2, 4>;
    EXPECT_TRUE(S::is_legal(0x33333333u));
    EXPECT_TRUE(S::is_legal(0x9c5a3c69u));
    EXPECT_FALSE(S::is_legal(0x33333337u));
    EXPECT_FALSE(S::is_legal(0x33333317u));  // one bit moved to the neighbour
    EXPECT_FALSE(S::is_legal(0));
    EXPECT_TRUE((nm::Shape<1, 16>::is_legal(0x80000001u)));
    EXPECT_FALSE((nm::Shape<1, 16>::is_legal(0x00030000u)));
}

}  // namespace
}  // namespace gradcoll::test
