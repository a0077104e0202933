// Error feedback: nothing is lost, only late; and nothing that is not finite is ever remembered.
#include <algorithm>
#include <cmath>

#include "compress/codec_cases.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

std::vector<CodecCase> float_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) { return !is_floating(c.type); });
    return cases;
}

class Feedback : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
        residual_type_ = codec_.type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    }
    Bytes zero_residual(std::size_t count) const {
        return Bytes(count * element_bytes(residual_type_));
    }
    struct Step {
        Bytes encoded, decoded;
    };
    Step step(const Bytes& plain, Bytes& residual) const { return step(codec_, plain, residual); }
    Step step(const Codec& codec, const Bytes& plain, Bytes& residual) const {
        const std::size_t count = elements_in(plain, codec.type);
        Step s{Bytes(bound_bytes(codec.id, element_bytes(codec.type), count)), Bytes(plain.size())};
        s.encoded.resize(
            codec.encode_with_residual(plain.data(), residual.data(), count, s.encoded.data()));
        EXPECT_TRUE(codec.decode(s.encoded.data(), s.encoded.size(), count, s.decoded.data()));
        return s;
    }
    Codec codec_;
    ElementType residual_type_{};
};

TEST_P(Feedback, EncodesAsEncodeDoesWhenNothingIsLeftOver) {
    for (const std::size_t count : hard_counts()) {
        const Bytes plain = make_data(Data::normal, codec_.type, count);
        Bytes residual = zero_residual(count);
        EXPECT_EQ(step(plain, residual).encoded, reference_encode(codec_.id, codec_.type, plain));
    }
}

TEST_P(Feedback, InputPlusOldResidualIsDecodedPlusNewResidual) {
    const std::size_t count = 1300;
    // Steps are not small integers: input + residual is rounded, and what is left.
    const bool has_steps = parameters_for(codec_.id).any() || chain_of(codec_.id);
    const double rounding = has_steps ? 0x1p-21 : 0;
    Bytes residual = zero_residual(count);
    for (std::uint32_t round = 0; round < 4; ++round) {
        const Bytes plain =
            make_data(Data::ties, codec_.type, count, round);  // small integers: no rounding
        const Bytes before = residual;
        const Bytes decoded = step(plain, residual).decoded;
        for (std::size_t i = 0; i < count; ++i) {
            const double wanted = value_of(codec_.type, element(plain, codec_.type, i)) +
                                  value_of(residual_type_, element(before, residual_type_, i));
            const double accounted = value_of(codec_.type, element(decoded, codec_.type, i)) +
                                     value_of(residual_type_, element(residual, residual_type_, i));
            ASSERT_NEAR(wanted, accounted, rounding) << i;
        }
    }
}

TEST_P(Feedback, EveryInstructionSetGivesTheSameBytesAndResiduals) {
    const Codec scalar = *codec_for(codec_.id, codec_.type, InstructionSet::scalar);
    for (const Data data : all_data)
        for (const std::size_t count : {1, 33, 70, 511, 512, 513, 1300}) {
            Bytes residual = make_data(Data::normal, residual_type_, count, 9), expected = residual;
            const Bytes plain = make_data(data, codec_.type, count);
            ASSERT_EQ(step(plain, residual).encoded, step(scalar, plain, expected).encoded)
                << count;
            ASSERT_EQ(residual, expected) << count;
        }
}

TEST_P(Feedback, RunningMeanOfDecodedValuesConvergesToTheTrueOnes) {
    const std::size_t count = 600;
    const int rounds = 400;
    const Bytes plain = make_data(Data::normal, codec_.type, count);
    Bytes residual = zero_residual(count);
    std::vector<double> sum(count);
    for (int round = 0; round < rounds; ++round) {
        const Bytes decoded = step(plain, residual).decoded;
        for (std::size_t i = 0; i < count; ++i)
            sum[i] += value_of(codec_.type, element(decoded, codec_.type, i));
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double truth = value_of(codec_.type, element(plain, codec_.type, i));
        ASSERT_NEAR(sum[i] / rounds, truth, 0.1) << i;  // a group's whole sum may wait, not grow
    }
}

TEST_P(Feedback, ResidualsAreAlwaysFinite) {
    const std::size_t count = 1300;
    Bytes residual = zero_residual(count);
    for (std::uint32_t round = 0; round < 3; ++round) {
        step(make_data(Data::special, codec_.type, count, round), residual);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_TRUE(
                std::isfinite(value_of(residual_type_, element(residual, residual_type_, i))))
                << i;
    }
}

TEST_P(Feedback, TouchesNothingOutsideItsBuffersAtAnyAlignment) {
    for (const std::size_t shift : {0, 1, 13})
        for (const std::size_t count : {1, 31, 512, 513, 1030}) {
            const Bytes plain = make_data(Data::normal, codec_.type, count);
            GuardedBuffer in(plain, shift), residual(zero_residual(count), shift);
            GuardedBuffer out(bound_bytes(codec_.id, element_bytes(codec_.type), count), shift);
            const std::size_t size =
                codec_.encode_with_residual(in.data(), residual.data(), count, out.data());
            ASSERT_TRUE(in.canaries_intact() && residual.canaries_intact() &&
                        out.canaries_intact());
            const Bytes payload = reference_encode(codec_.id, codec_.type, plain);
            ASSERT_EQ(size, payload.size());
            ASSERT_TRUE(std::equal(payload.begin(), payload.end(), out.data()));
        }
}

INSTANTIATE_TEST_SUITE_P(Floats, Feedback, testing::ValuesIn(float_cases()), case_name);

TEST(FeedbackOfExact, FlushesAResidualIntoTheValueSent) {
    const Codec exact = *codec_for(CodecId::exact, ElementType::f32);
    const float in[] = {1, 2, 3};
    float residual[] = {0.5f, -2, 0}, sent[3];
    exact.encode_with_residual(in, residual, 3, reinterpret_cast<std::byte*>(sent));
    EXPECT_EQ(sent[0], 1.5f);
    EXPECT_EQ(sent[1], 0.0f);
    EXPECT_EQ(sent[2], 3.0f);
    for (const float rest : residual) EXPECT_EQ(rest, 0.0f);
}

TEST(FeedbackOfExact, KeepsWhatASixteenBitTypeRoundsOff) {
    const Codec exact = *codec_for(CodecId::exact, ElementType::bf16);
    const auto in = static_cast<std::uint16_t>(bits_of(ElementType::bf16, 256));
    float residual = 0.75f;  // bf16 has steps of 2 from 256 upwards
    std::uint16_t sent;
    exact.encode_with_residual(&in, &residual, 1, reinterpret_cast<std::byte*>(&sent));
    EXPECT_EQ(value_of(ElementType::bf16, sent), 256);
    EXPECT_EQ(residual, 0.75f);
}

}  // namespace
}  // namespace gradcoll::test
