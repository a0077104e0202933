// What chains promise beside their stages' own promises: N:M says which values, the quantizer how
// close; and which masks a decoder takes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compress/codec_cases.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t block = 512, mask_bytes = 48;

std::vector<CodecCase> chain_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) { return !chain_of(c.codec); });
    return cases;
}

class ChainOfCodecs : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
    }
    ElementType type() const { return codec_.type; }
    Chain chain() const { return *chain_of(codec_.id); }
    Bytes encode(const Bytes& plain) const {
        Bytes out(bound_bytes(codec_.id, element_bytes(type()), elements_in(plain, type())));
        codec_.encode(plain.data(), elements_in(plain, type()), out.data());
        return out;
    }
    bool decodes(const Bytes& encoded, std::size_t count, Bytes& out) const {
        out.resize(count * element_bytes(type()));
        return codec_.decode(encoded.data(), encoded.size(), count, out.data());
    }
    bool decodes(const Bytes& encoded, std::size_t count) const {
        Bytes out;
        return decodes(encoded, count, out);
    }
    /// Returns what N:M alone keeps.
    Bytes chosen_of(const Bytes& plain) const {
        return reference_decode(chain().chooser, type(),
                                reference_encode(chain().chooser, type(), plain),
                                elements_in(plain, type()));
    }
    Codec codec_;
};

/// The bound is half a step of all that lies between the smallest and the largest value, and
/// rounding.
TEST_P(ChainOfCodecs, KeepsWhatNmKeepsWithinHalfAStep) {
    for (const std::size_t count : {std::size_t{511}, std::size_t{512}, std::size_t{1537}}) {
        const Bytes plain = make_data(Data::normal, type(), count), chosen = chosen_of(plain);
        Bytes decoded;
        ASSERT_TRUE(decodes(encode(plain), count, decoded));
        double least = 0, most = 0;
        for (std::size_t i = 0; i < count; ++i) {
            least = std::min(least, value_of(type(), element(chosen, type(), i)));
            most = std::max(most, value_of(type(), element(chosen, type(), i)));
        }
        const double half_step = (most - least) / (std::ldexp(1, chain().bits) - 1) / 2;
        const double rounding = type() == ElementType::bf16 ? 0x1p-6 : 0x1p-9;
        for (std::size_t i = 0; i < count; ++i) {
            const double want = value_of(type(), element(chosen, type(), i));
            ASSERT_NEAR(value_of(type(), element(decoded, type(), i)), want, half_step + rounding)
                << i;
            if (want == 0) {
                ASSERT_EQ(element(decoded, type(), i), 0U) << i;
            }
        }
    }
}

/// Three of the N:M bits of a group of a whole block travel, and all eight combinations may arrive.
TEST_P(ChainOfCodecs, OfEveryGroupTheMasksOfNmAndFloodsAreTakenAndNoOthers) {
    const Bytes good = encode(make_data(Data::normal, type(), block));
    for (std::size_t group = 0; group < block / 4; ++group)
        for (unsigned three = 0; three < 8; ++three) {
            Bytes changed = good;
            for (std::size_t k = 0; k < 3; ++k) {
                const std::size_t at = group < 96 ? 4 * group + k : 4 * (32 * k + group - 96) + 3;
                const auto bit = static_cast<std::byte>(1 << at % 8);
                changed[at / 8] =
                    (three >> k & 1) != 0 ? changed[at / 8] | bit : changed[at / 8] & ~bit;
            }
            const auto set = static_cast<std::size_t>(std::popcount(three));
            const bool legal = set == 3 || set == chain().keep || set + 1 == chain().keep;
            ASSERT_EQ(decodes(changed, block), legal) << group << ": " << three;
        }
}

TEST_P(ChainOfCodecs, FloodedGroupsOfWholeBlocksAndTailsComeBackAsNaN) {
    const std::uint64_t inf = bits_of(type(), std::numeric_limits<double>::infinity());
    for (const std::size_t count : {std::size_t{512}, std::size_t{519}}) {
        const std::size_t first = count == 512 ? 8 : 512;
        Bytes plain;
        for (std::size_t i = 0; i < count; ++i)
            append_element(plain, type(),
                           i / 4 == first / 4 && i % 4 < 3 ? inf : bits_of(type(), 1.0));
        Bytes decoded;
        ASSERT_TRUE(decodes(encode(plain), count, decoded));
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(is_nan(type(), element(decoded, type(), i)), i / 4 == first / 4) << i;
    }
}

TEST_P(ChainOfCodecs, ScalesThatAreNotFiniteAreRefused) {
    for (const std::size_t count : {std::size_t{512}, std::size_t{16}}) {
        Bytes bad = encode(make_data(Data::normal, type(), count));
        ASSERT_TRUE(decodes(bad, count));
        const std::size_t scale = count == block ? mask_bytes : 4;
        const std::size_t bytes = type() == ElementType::f64 ? 8 : 4;
        std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(scale), bytes, std::byte{0xff});
        EXPECT_FALSE(decodes(bad, count)) << count;
    }
}

INSTANTIATE_TEST_SUITE_P(All, ChainOfCodecs, testing::ValuesIn(chain_cases()), case_name);

Bytes bytes_of(std::initializer_list<int> values) {
    Bytes out;
    for (const int value : values) out.push_back(static_cast<std::byte>(value));
    return out;
}

/// These are the examples of compress/chain/README.md.
TEST(ChainByHand, FiveElementsWithAStepOfOne) {
    const float in[] = {0, -2, 253, 1, 7};
    Bytes out(15);
    codec_for(CodecId::nm_2_4_int8, ElementType::f32)->encode(in, 5, out.data());
    EXPECT_EQ(out, bytes_of({6, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0xfc, 0x42, 0x80, 0x7f, 0x89}));
}

TEST(ChainByHand, ABlockWhoseGroupsKeepTheirFirstTwo) {
    std::vector<float> in;
    for (std::size_t i = 0; i < block; ++i) in.push_back(i % 4 < 2 ? 1.0F : 0.0F);
    Bytes want(32, std::byte{0xbb});               // bits 0 and 1 of words 12 to 15 beside 0 to 7
    want.insert(want.end(), 16, std::byte{0x33});  // bit 2 beside 8 to 11
    const Bytes grid = bytes_of({0, 0, 0, 0, 0, 0, 0x80, 0x3f});
    want.insert(want.end(), grid.begin(), grid.end());
    want.insert(want.end(), 256, std::byte{0});
    Bytes out(312);
    codec_for(CodecId::nm_2_4_int8, ElementType::f32)->encode(in.data(), block, out.data());
    EXPECT_EQ(out, want);
}

}  // namespace
}  // namespace gradcoll::test
