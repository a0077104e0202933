// What every codec owes, for every element type and instruction set: the bytes of the plain
// reference, no byte outside its buffers, no alignment needed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

class CodecContract : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        Result<Codec> codec = codec_for(GetParam().codec, GetParam().type, GetParam().isa);
        ASSERT_TRUE(codec.ok()) << codec.status().message();
        codec_ = *codec;
    }
    std::size_t bytes_of_encoding(std::size_t count) const {
        return bound_bytes(codec_.id, element_bytes(codec_.type), count);
    }
    Bytes encode(const Bytes& plain) const {
        const std::size_t count = elements_in(plain, codec_.type);
        Bytes out(bytes_of_encoding(count));
        out.resize(codec_.encode(plain.data(), count, out.data()));
        return out;
    }
    Codec codec_;
};

TEST_P(CodecContract, EncodesToTheBytesOfTheReference) {
    for (const Data data : all_data)
        for (const std::size_t count : hard_counts()) {
            const Bytes plain = make_data(data, codec_.type, count);
            ASSERT_EQ(encode(plain), reference_encode(codec_.id, codec_.type, plain)) << count;
        }
}

TEST_P(CodecContract, DecodesToTheValuesOfTheReference) {
    for (const Data data : all_data)
        for (const std::size_t count : hard_counts()) {
            const Bytes encoded = encode(make_data(data, codec_.type, count));
            Bytes out(count * element_bytes(codec_.type));
            ASSERT_TRUE(codec_.decode(encoded.data(), encoded.size(), count, out.data()));
            ASSERT_EQ(out, reference_decode(codec_.id, codec_.type, encoded, count)) << count;
        }
}

TEST_P(CodecContract, AddsDecodedValuesToTheBase) {
    for (const Data data : all_data)
        for (const std::size_t count : hard_counts()) {
            const Bytes encoded = encode(make_data(data, codec_.type, count));
            const Bytes base = make_data(data, codec_.type, count, 2);
            Bytes out(base.size());
            ASSERT_TRUE(
                codec_.decode_sum(encoded.data(), encoded.size(), count, base.data(), out.data()));
            const Bytes want = reference_sum(codec_.id, codec_.type, encoded, base);
            ASSERT_TRUE(same_but_nan_payload(codec_.type, out, want)) << count << " elements";
        }
}

TEST_P(CodecContract, AddsInPlace) {
    const std::size_t count = 1025;
    const Bytes encoded = encode(make_data(Data::normal, codec_.type, count));
    Bytes base = make_data(Data::normal, codec_.type, count, 2);
    const Bytes want = reference_sum(codec_.id, codec_.type, encoded, base);
    ASSERT_TRUE(codec_.decode_sum(encoded.data(), encoded.size(), count, base.data(), base.data()));
    EXPECT_EQ(base, want);
}

TEST_P(CodecContract, DroppedElementsAddPlusZero) {
    const std::size_t count = 512;
    const std::uint64_t minus_zero = is_floating(codec_.type) ? bits_of(codec_.type, -0.0) : 0;
    Bytes base;
    for (std::size_t i = 0; i < count; ++i) append_element(base, codec_.type, minus_zero);
    const Bytes encoded = encode(make_data(Data::normal, codec_.type, count));
    Bytes sum(base.size()), decoded(base.size());
    ASSERT_TRUE(codec_.decode_sum(encoded.data(), encoded.size(), count, base.data(), sum.data()));
    ASSERT_TRUE(codec_.decode(encoded.data(), encoded.size(), count, decoded.data()));
    EXPECT_EQ(sum, decoded);  // -0 + +0 is +0, -0 + x is x
}

/// This many values of every other group are not finite: up to N they arrive and the others are
/// their neighbours' zeros; more, and nothing but NaN comes out of the group.
TEST_P(CodecContract, GroupsWithMoreThanNNonFiniteValuesAreNaNThroughout) {
    if (!group_of(codec_.id)) return;
    const auto [keep, group] = *group_of(codec_.id);
    const double odd[] = {std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
    for (const std::size_t count : {std::size_t{48}, std::size_t{512}, std::size_t{1300}})
        for (std::size_t not_finite = 1; not_finite <= group; ++not_finite) {
            const auto is_odd = [&](std::size_t i) {
                return i < count / group * group && i / group % 2 == 0 && i % group < not_finite;
            };
            Bytes plain;
            for (std::size_t i = 0; i < count; ++i)
                append_element(plain, codec_.type,
                               bits_of(codec_.type, is_odd(i) ? odd[i % 3] : 1.0));
            Bytes encoded(bound_bytes(codec_.id, element_bytes(codec_.type), count));
            Bytes sums(plain.size());
            codec_.encode(plain.data(), count, encoded.data());
            EXPECT_EQ(encoded, reference_encode(codec_.id, codec_.type, plain));
            ASSERT_TRUE(
                codec_.decode_sum(encoded.data(), encoded.size(), count, sums.data(), sums.data()));
            for (std::size_t i = 0; i < count; ++i) {
                const double sum = value_of(codec_.type, element(sums, codec_.type, i));
                const bool in_odd_group = is_odd(i / group * group);
                if (in_odd_group && not_finite > keep)
                    ASSERT_TRUE(std::isnan(sum)) << i << " with " << not_finite;
                else
                    ASSERT_EQ(std::isfinite(sum), !is_odd(i)) << i << " with " << not_finite;
            }
        }
}

TEST_P(CodecContract, TouchesNothingOutsideItsBuffersAtAnyAlignment) {
    for (const std::size_t shift : {0, 1, 2, 4, 13, 63})
        for (const std::size_t count : {1, 5, 31, 33, 511, 512, 513, 1024, 1500}) {
            const Bytes plain = make_data(Data::normal, codec_.type, count);
            GuardedBuffer in(plain, shift), encoded(bytes_of_encoding(count), shift);
            GuardedBuffer out(plain.size(), shift), sum(plain, shift);
            const std::size_t size = codec_.encode(in.data(), count, encoded.data());
            ASSERT_TRUE(codec_.decode(encoded.data(), size, count, out.data()));
            ASSERT_TRUE(codec_.decode_sum(encoded.data(), size, count, sum.data(), sum.data()));
            ASSERT_TRUE(in.canaries_intact() && encoded.canaries_intact());
            ASSERT_TRUE(out.canaries_intact() && sum.canaries_intact());
            const Bytes payload = encode(plain);
            ASSERT_EQ(size, payload.size());
            ASSERT_TRUE(std::equal(payload.begin(), payload.end(), encoded.data()));
            ASSERT_EQ(out.content(), reference_decode(codec_.id, codec_.type, payload, count));
        }
}

/// Decodes from buffers of exactly that length, so that a sanitizer sees what reads too far.
bool decodes_from(const Codec& codec, const Bytes& encoded, std::size_t length, std::size_t count) {
    const auto in = std::make_unique<std::byte[]>(length);
    std::copy_n(encoded.begin(), std::min(length, encoded.size()), in.get());
    GuardedBuffer out(count * element_bytes(codec.type)), sum(count * element_bytes(codec.type));
    const bool decoded = codec.decode(in.get(), length, count, out.data());
    const bool summed = codec.decode_sum(in.get(), length, count, sum.data(), sum.data());
    EXPECT_EQ(decoded, summed);
    EXPECT_TRUE(out.canaries_intact() && sum.canaries_intact());
    return decoded;
}

TEST_P(CodecContract, EncodingsOfAFixedRateFillTheBoundAndNoOtherLengthDecodes) {
    if (!has_fixed_rate(codec_.id)) return;
    for (const std::size_t count : {0, 1, 5, 31, 33, 512, 513, 1030}) {
        const Bytes plain = make_data(Data::normal, codec_.type, count);
        const std::size_t bound = bytes_of_encoding(count);
        Bytes encoded(bound), residual(count * sizeof(double));
        ASSERT_EQ(codec_.encode_with_residual(plain.data(), residual.data(), count, encoded.data()),
                  bound);
        ASSERT_EQ(codec_.encode(plain.data(), count, encoded.data()), bound);
        for (std::size_t length = 0; length < bound + 70; ++length) {
            if (length >= 70 && length + 70 <= bound) continue;  // far from where it could matter
            ASSERT_EQ(decodes_from(codec_, encoded, length, count), length == bound) << count;
        }
    }
}

TEST_P(CodecContract, LargeArraysEncodeAsTheirBlocksDo) {
    const std::size_t count = 20'003, cut = 20 * codec_block_elems(codec_.id);
    const Bytes plain = make_data(Data::normal, codec_.type, count);
    const auto middle =
        plain.begin() + static_cast<std::ptrdiff_t>(cut * element_bytes(codec_.type));
    const Bytes whole = encode(plain);
    Bytes pieces = encode(Bytes(plain.begin(), middle));
    const Bytes rest = encode(Bytes(middle, plain.end()));
    pieces.insert(pieces.end(), rest.begin(), rest.end());
    EXPECT_EQ(whole, pieces);
    EXPECT_EQ(whole, reference_encode(codec_.id, codec_.type, plain));
}

INSTANTIATE_TEST_SUITE_P(All, CodecContract, testing::ValuesIn(all_codec_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
