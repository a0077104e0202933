// Rounding by chance (int8/seed=7): right in the mean, within a step, and the same everywhere.
#include <cmath>

#include "compress/codec_cases.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

struct DitherCase {
    CodecId codec;
    ElementType type;
};

std::vector<DitherCase> dither_cases() {
    std::vector<DitherCase> cases;
    for (const CodecId codec : {CodecId::int8, CodecId::int4, CodecId::int16})
        for (const ElementType type :
             {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
            if (codec_supports(codec, type)) cases.push_back({codec, type});
    return cases;
}

class Dither : public testing::TestWithParam<DitherCase> {
  protected:
    ElementType type() const { return GetParam().type; }
    /// A process keeps few codecs with parameters, so encoders are told of many seeds.
    Codec codec(std::uint32_t seed, InstructionSet isa = InstructionSet::scalar) const {
        Codec made = *codec_for(*codec_with(GetParam().codec, {.seed = 1}), type(), isa);
        made.parameters.seed = seed;
        return made;
    }
    double value(const Bytes& array, std::size_t i) const {
        return value_of(type(), element(array, type(), i));
    }
    static Bytes encode(const Codec& codec, const Bytes& plain) {
        const std::size_t count = elements_in(plain, codec.type);
        Bytes out(bound_bytes(codec.id, element_bytes(codec.type), count));
        EXPECT_EQ(codec.encode(plain.data(), count, out.data()), out.size());
        return out;
    }
    static Bytes there_and_back(const Codec& codec, const Bytes& plain) {
        const Bytes encoded = encode(codec, plain);
        Bytes out(plain.size());
        EXPECT_TRUE(codec.decode(encoded.data(), encoded.size(), elements_in(plain, codec.type),
                                 out.data()));
        return out;
    }
};

TEST_P(Dither, EveryInstructionSetGivesTheSameBytes) {
    for (const InstructionSet isa : all_instruction_sets) {
        if (!kernels_available(isa)) continue;
        for (const Data data : all_data)
            for (const std::size_t count : hard_counts()) {
                const Bytes plain = make_data(data, type(), count);
                ASSERT_EQ(encode(codec(7, isa), plain), encode(codec(7), plain)) << count;
                Bytes rest(count * sizeof(double)), other(rest);
                Bytes a(bound_bytes(codec(7).id, element_bytes(type()), count)), b(a);
                codec(7, isa).encode_with_residual(plain.data(), rest.data(), count, a.data());
                codec(7).encode_with_residual(plain.data(), other.data(), count, b.data());
                ASSERT_EQ(a, b) << count;
                ASSERT_EQ(rest, other) << count;
            }
    }
}

/// Bytes are decoded as without a seed: the same kernel serves.
TEST_P(Dither, EncodingsAreThoseOfTheFormatWithoutASeed) {
    const Bytes plain = make_data(Data::special, type(), 700);
    const Bytes encoded = encode(codec(9), plain);
    Bytes with(plain.size()), without(plain.size());
    const Codec other = *codec_for(GetParam().codec, type());
    ASSERT_TRUE(codec(9).decode(encoded.data(), encoded.size(), 700, with.data()));
    ASSERT_TRUE(other.decode(encoded.data(), encoded.size(), 700, without.data()));
    EXPECT_EQ(with, without);
}

TEST_P(Dither, SeedsDrawDifferently) {
    const Bytes plain = make_data(Data::normal, type(), 512);
    EXPECT_EQ(encode(codec(1), plain), encode(codec(1), plain));
    EXPECT_NE(encode(codec(1), plain), encode(codec(2), plain));
}

/// The mean over seeds of what comes back is the value: 5 standard errors, of at most half a step
/// each, and what the type itself rounds.
TEST_P(Dither, TheMeanOfManySeedsIsTheValue) {
    const std::size_t count = 300, seeds = 4000;
    const Bytes plain = make_data(Data::normal, type(), count);
    std::vector<double> sum(count);
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        const Bytes back = there_and_back(codec(seed), plain);
        for (std::size_t i = 0; i < count; ++i) sum[i] += value(back, i);
    }
    double lowest = 0, highest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        lowest = std::min(lowest, value(plain, i));
        highest = std::max(highest, value(plain, i));
    }
    const double step = (highest - lowest) / (std::ldexp(1, quantizer_bits(GetParam().codec)) - 3);
    const double type_rounds = type() == ElementType::bf16  ? 0x1p-8
                               : type() == ElementType::f16 ? 0x1p-11
                                                            : 0x1p-20;
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_NEAR(sum[i] / seeds, value(plain, i),
                    5 * step / 2 / std::sqrt(static_cast<double>(seeds)) +
                        type_rounds * std::max(std::fabs(value(plain, i)), 1.0))
            << i;
}

TEST_P(Dither, ZeroStaysZeroAndSpecialsStaySpecial) {
    for (std::uint32_t seed = 1; seed < 200; ++seed) {
        Bytes plain = make_data(Data::normal, type(), 512);
        for (std::size_t i = 0; i < 512; i += 2)
            std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(i * element_bytes(type())),
                        element_bytes(type()), std::byte{0});
        const Bytes back = there_and_back(codec(seed), plain);
        for (std::size_t i = 0; i < 512; i += 2) ASSERT_EQ(value(back, i), 0) << i;
    }
    const Bytes plain = make_data(Data::special, type(), 512);
    const Bytes back = there_and_back(codec(3), plain);
    for (std::size_t i = 0; i < 512; ++i)
        ASSERT_EQ(std::isfinite(value(plain, i)), std::isfinite(value(back, i))) << i;
}

std::string dither_name(const testing::TestParamInfo<DitherCase>& info) {
    return std::string(name_of(info.param.codec)) + "_" + std::string(name_of(info.param.type));
}
INSTANTIATE_TEST_SUITE_P(All, Dither, testing::ValuesIn(dither_cases()), dither_name);

}  // namespace
}  // namespace gradcoll::test
