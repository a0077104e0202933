// Results that go past the caches, for being large, have the bytes of results that do not, at any
// alignment, and nothing around them is touched.
#include <cstring>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t plain_bytes = 17u << 20;  // its encodings are large, too
constexpr std::size_t small_elems = 1u << 16;   // a call that streams nothing
constexpr std::size_t unaligned = 17;

/// Returns codecs that take an element by itself, and one that works in blocks.
std::vector<CodecCase> streaming_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) {
        const bool taken =
            c.codec == CodecId::exact || c.codec == CodecId::nm_2_4 || c.codec == CodecId::bf16;
        const bool typical = c.type == ElementType::f32 || c.type == ElementType::bf16;
        return !taken || !typical || c.isa == InstructionSet::scalar;
    });
    return cases;
}

/// Repeats the same few thousand elements again and again; their number has no factor in common
/// with a block.
Bytes tiled_data(ElementType type, std::size_t count, std::uint32_t seed) {
    const Bytes tile = make_data(Data::normal, type, 4099, seed);
    Bytes out(count * element_bytes(type));
    for (std::size_t at = 0; at < out.size(); at += tile.size())
        std::memcpy(out.data() + at, tile.data(), std::min(tile.size(), out.size() - at));
    return out;
}

class LargeResults : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
        size_ = element_bytes(codec_.type);
        count_ = plain_bytes / size_ + 77;
        plain_ = tiled_data(codec_.type, count_, 1);
        encoded_ = Bytes(coded(count_));
        in_small_calls([&](std::size_t first, std::size_t elems) {
            codec_.encode(plain_.data() + first * size_, elems, encoded_.data() + coded(first));
        });
    }
    std::size_t coded(std::size_t count) const { return bound_bytes(codec_.id, size_, count); }

    template <class Call>
    void in_small_calls(Call call) const {
        for (std::size_t first = 0; first < count_; first += small_elems)
            call(first, std::min(small_elems, count_ - first));
    }

    Codec codec_;
    std::size_t size_ = 0, count_ = 0;
    Bytes plain_, encoded_;
};

TEST_P(LargeResults, EncodeToTheBytesOfSmallOnes) {
    GuardedBuffer out(encoded_.size(), unaligned);
    codec_.encode(plain_.data(), count_, out.data());
    EXPECT_TRUE(out.content() == encoded_);
    EXPECT_TRUE(out.canaries_intact());
}

TEST_P(LargeResults, EncodeWithResidualToTheBytesAndResidualsOfSmallOnes) {
    constexpr std::size_t wide = sizeof(float);
    Bytes expected_residual(count_ * wide), expected(encoded_.size());
    GuardedBuffer residual(expected_residual, unaligned), out(encoded_.size(), unaligned);
    for (int round = 0; round < 2; ++round) {
        in_small_calls([&](std::size_t first, std::size_t elems) {
            codec_.encode_with_residual(plain_.data() + first * size_,
                                        expected_residual.data() + first * wide, elems,
                                        expected.data() + coded(first));
        });
        codec_.encode_with_residual(plain_.data(), residual.data(), count_, out.data());
    }
    EXPECT_TRUE(out.content() == expected);
    EXPECT_TRUE(residual.content() == expected_residual);
    EXPECT_TRUE(out.canaries_intact() && residual.canaries_intact());
}

TEST_P(LargeResults, DecodeToTheValuesOfSmallOnes) {
    Bytes expected(plain_.size());
    in_small_calls([&](std::size_t first, std::size_t elems) {
        ASSERT_TRUE(codec_.decode(encoded_.data() + coded(first), coded(elems), elems,
                                  expected.data() + first * size_));
    });
    GuardedBuffer out(plain_.size(), unaligned);
    ASSERT_TRUE(codec_.decode(encoded_.data(), encoded_.size(), count_, out.data()));
    EXPECT_TRUE(out.content() == expected);
    EXPECT_TRUE(out.canaries_intact());
}

TEST_P(LargeResults, AddToTheSumsOfSmallOnesApartAndInPlace) {
    const Bytes base = tiled_data(codec_.type, count_, 2);
    Bytes expected(plain_.size());
    in_small_calls([&](std::size_t first, std::size_t elems) {
        ASSERT_TRUE(codec_.decode_sum(encoded_.data() + coded(first), coded(elems), elems,
                                      base.data() + first * size_,
                                      expected.data() + first * size_));
    });
    GuardedBuffer apart(plain_.size(), unaligned), in_place(base, unaligned);
    ASSERT_TRUE(
        codec_.decode_sum(encoded_.data(), encoded_.size(), count_, base.data(), apart.data()));
    ASSERT_TRUE(codec_.decode_sum(encoded_.data(), encoded_.size(), count_, in_place.data(),
                                  in_place.data()));
    EXPECT_TRUE(apart.content() == expected);
    EXPECT_TRUE(in_place.content() == expected);
    EXPECT_TRUE(apart.canaries_intact() && in_place.canaries_intact());
}

TEST_P(LargeResults, DecodeRefusesAnIllegalMaskInTheMiddle) {
    if (codec_.id != CodecId::nm_2_4) return;
    const std::size_t middle = coded(count_ / 1024 * 512);
    encoded_[middle] ^= std::byte{0xff};
    encoded_[middle + 1] = encoded_[middle + 2] = std::byte{0};
    GuardedBuffer out(plain_.size(), unaligned);
    EXPECT_FALSE(codec_.decode(encoded_.data(), encoded_.size(), count_, out.data()));
    EXPECT_TRUE(out.canaries_intact());
}

INSTANTIATE_TEST_SUITE_P(All, LargeResults, testing::ValuesIn(streaming_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
