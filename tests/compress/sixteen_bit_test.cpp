// Every 16-bit pattern through the vector arithmetic of fp16 and bf16: NaN, Inf, subnormals and
// ties come out as the scalar version gives them.
#include <cstring>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t patterns = 65536;

/// These are zero, the smallest, ones, halves of last places, the largest, Inf and NaN, in either
/// format.
constexpr std::uint16_t addends[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x3f80, 0xbf80,
                                     0x3b80, 0x3c00, 0x1000, 0x7bff, 0x7c00, 0xfc00,
                                     0x7c01, 0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0xff81};

Bytes all_patterns() {
    Bytes out;
    for (std::uint32_t bits = 0; bits < patterns; ++bits)
        append_element(out, ElementType::bf16, bits);
    return out;
}
Bytes repeated(ElementType type, std::uint64_t bits) {
    Bytes out;
    for (std::size_t i = 0; i < patterns; ++i) append_element(out, type, bits);
    return out;
}

class SixteenBits : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
        scalar_ = *codec_for(GetParam().codec, GetParam().type, InstructionSet::scalar);
    }
    Codec codec_, scalar_;
};

TEST_P(SixteenBits, SumsOfEveryPatternAreThoseOfTheScalarVersion) {
    const Bytes base = all_patterns();
    for (const std::uint16_t addend : addends) {
        const Bytes in = repeated(codec_.type, addend);
        Bytes sum(base.size()), want(base.size());
        ASSERT_TRUE(codec_.decode_sum(in.data(), in.size(), patterns, base.data(), sum.data()));
        ASSERT_TRUE(scalar_.decode_sum(in.data(), in.size(), patterns, base.data(), want.data()));
        ASSERT_TRUE(same_but_nan_payload(codec_.type, sum, want)) << std::hex << addend;
        ASSERT_TRUE(is_nan(codec_.type, addend) || sum == want) << "a NaN changed, + " << addend;
    }
}

TEST_P(SixteenBits, FeedbackOnEveryPatternIsThatOfTheScalarVersion) {
    const Bytes in = all_patterns();
    for (const float rest : {0.0F, 0x1p-9F, -0x1p-24F, 0x1p-133F, 300.0F}) {
        const Bytes residual = repeated(ElementType::f32, bits_of(ElementType::f32, rest));
        Bytes rests = residual, wanted_rests = residual, out(in.size()), want(in.size());
        codec_.encode_with_residual(in.data(), rests.data(), patterns, out.data());
        scalar_.encode_with_residual(in.data(), wanted_rests.data(), patterns, want.data());
        ASSERT_TRUE(out == want) << rest;
        ASSERT_TRUE(rests == wanted_rests) << rest;
    }
}

std::vector<CodecCase> sixteen_bit_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) {
        return c.codec != CodecId::exact || c.isa == InstructionSet::scalar ||
               (c.type != ElementType::f16 && c.type != ElementType::bf16);
    });
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Exact, SixteenBits, testing::ValuesIn(sixteen_bit_cases()), case_name);

TEST(Bf16Cast, RoundsEveryUpperHalfAndEveryKindOfLowerHalfAsTheScalarVersion) {
    const Codec scalar = *codec_for(CodecId::bf16, ElementType::f32, InstructionSet::scalar);
    for (const InstructionSet isa : all_instruction_sets) {
        if (!kernels_available(isa)) continue;
        const Codec codec = *codec_for(CodecId::bf16, ElementType::f32, isa);
        for (const std::uint32_t lower : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
            Bytes in;
            for (std::uint32_t upper = 0; upper < patterns; ++upper)
                append_element(in, ElementType::f32, upper << 16 | lower);
            Bytes out(2 * patterns), want(2 * patterns);
            codec.encode(in.data(), patterns, out.data());
            scalar.encode(in.data(), patterns, want.data());
            ASSERT_TRUE(out == want) << name_of(isa) << ", lower half " << lower;
        }
    }
}

}  // namespace
}  // namespace gradcoll::test
