// What the quantizing codecs promise of values: half a step and rounding, whatever the values are;
// zero, equal values, NaN and Inf as they were.
#include <cmath>
#include <limits>
#include <random>

#include "compress/codec_cases.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t block = 256;

/// A Shape has values by name: each is a draw from `normal` and `uniform` (0 to 1) made into a
/// value of block b.
struct Shape {
    const char* name;
    double (*value)(double normal, double uniform, std::size_t b);
};
constexpr Shape shapes[] = {
    {"normal", [](double n, double, std::size_t) { return n; }},
    {"Laplace", [](double n, double u, std::size_t) { return std::copysign(std::log(u), n); }},
    {"lognormal", [](double n, double, std::size_t) { return std::exp(3 * n); }},
    {"one far out", [](double n, double u, std::size_t) { return u < 0.004 ? 1e4 : n; }},
    {"far from zero", [](double n, double, std::size_t) { return 1000 + n; }},
    {"far below zero", [](double n, double, std::size_t) { return -1000 + 1e-3 * n; }},
    {"mostly zero", [](double n, double u, std::size_t) { return u < 0.9 ? 0 : n; }},
    {"scales of all blocks",
     [](double n, double, std::size_t b) {
         return std::ldexp(n, static_cast<int>(b * 37 % 290) - 148);
     }},
};

std::vector<CodecCase> quantizer_cases() {
    std::vector<CodecCase> cases = all_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) { return quantizer_bits(c.codec) == 0; });
    return cases;
}

class Quantizer : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        codec_ = *codec_for(GetParam().codec, GetParam().type, GetParam().isa);
    }
    ElementType type() const { return codec_.type; }
    Bytes encode(const Bytes& plain) const {
        const std::size_t count = elements_in(plain, type());
        Bytes out(bound_bytes(codec_.id, element_bytes(type()), count));
        codec_.encode(plain.data(), count, out.data());
        return out;
    }
    bool decodes(const Bytes& encoded, std::size_t count) const {
        Bytes out(count * element_bytes(type()));
        return codec_.decode(encoded.data(), encoded.size(), count, out.data());
    }
    Bytes there_and_back(const Bytes& plain) const {
        const Bytes encoded = encode(plain);
        Bytes out(plain.size());
        EXPECT_TRUE(
            codec_.decode(encoded.data(), encoded.size(), elements_in(plain, type()), out.data()));
        return out;
    }
    Bytes all_of(const std::vector<double>& values) const {
        Bytes out;
        for (const double value : values) append_element(out, type(), bits_of(type(), value));
        return out;
    }
    double value(const Bytes& array, std::size_t i) const {
        return value_of(type(), element(array, type(), i));
    }
    /// Returns the scale of the block that element i is in.
    double scale_of(const Bytes& encoded, std::size_t i) const {
        const std::size_t bytes = bound_bytes(codec_.id, element_bytes(type()), block);
        Bytes scale(encoded.begin() + static_cast<std::ptrdiff_t>(i / block * bytes),
                    encoded.end());
        const ElementType wide = type() == ElementType::f64 ? type() : ElementType::f32;
        return std::fabs(value_of(wide, element(scale, wide, 0)));
    }
    double codes() const { return std::ldexp(1, quantizer_bits(codec_.id)); }
    /// Returns what compress/quant/README.md adds to half a step: of the largest magnitude of the
    /// block, or of half of what all codes span.
    double rounding(double largest) const {
        switch (type()) {
            case ElementType::f64:
                return std::ldexp(largest, -49);
            case ElementType::f16:
                return std::max(std::ldexp(largest, -11), 0x1p-25) + std::ldexp(largest, -20);
            case ElementType::bf16:
                return std::max(std::ldexp(largest, -8), 0x1p-134) + std::ldexp(largest, -20);
            default:
                return std::ldexp(largest, -20);
        }
    }
    Codec codec_;
};

TEST_P(Quantizer, FiniteValuesComeBackWithinHalfAStepAndRounding) {
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const Shape& shape : shapes) {
        std::vector<double> draws;
        for (std::size_t i = 0; i < 200 * block + 77; ++i)
            draws.push_back(shape.value(normal(generator), uniform(generator), i / block));
        Bytes plain = all_of(draws);
        const std::uint64_t inf = bits_of(type(), std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < draws.size(); ++i) {
            if (std::isfinite(value(plain, i))) continue;  // rounded to Inf: the largest instead
            const std::uint64_t largest = inf - 1;
            std::memcpy(plain.data() + i * element_bytes(type()), &largest, element_bytes(type()));
        }
        const Bytes encoded = encode(plain), back = there_and_back(plain);
        for (std::size_t first = 0; first < draws.size(); first += block) {
            const std::size_t end = std::min(first + block, draws.size());
            double largest = 0;
            for (std::size_t i = first; i < end; ++i)
                largest = std::max(largest, std::fabs(value(plain, i)));
            const double scale = scale_of(encoded, first);
            const double bound = scale / 2 + rounding(std::max(largest, codes() / 2 * scale));
            for (std::size_t i = first; i < end; ++i) {
                ASSERT_LE(std::fabs(value(plain, i) - value(back, i)), bound)
                    << shape.name << ", element " << i << ": " << value(plain, i);
                ASSERT_TRUE(value(plain, i) != 0 || value(back, i) == 0) << shape.name;
            }
        }
    }
}

TEST_P(Quantizer, FiniteValuesAtTheEndOfTheRangeStayFinite) {
    const std::uint64_t largest = bits_of(type(), std::numeric_limits<double>::infinity()) - 1;
    const double most = value_of(type(), largest);
    for (const std::size_t count : {std::size_t{5}, block, block + 3}) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(i % 3 == 0 ? most : i % 3 == 1 ? -most : most / 3);
        const Bytes plain = all_of(values), encoded = encode(plain), back = there_and_back(plain);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_LE(std::fabs(value(plain, i) / 2 - value(back, i) / 2),
                      scale_of(encoded, i) / 4 + rounding(most / 2));
    }
}

TEST_P(Quantizer, EqualValuesComeBackAsTheyWere) {
    for (const double value : {0.0, 1.0, -3.0, 1e-30, 0x1p-149, 1e30})
        for (const std::size_t count : {std::size_t{1}, std::size_t{31}, block, 2 * block + 9}) {
            const Bytes plain = all_of(std::vector<double>(count, value));
            ASSERT_EQ(there_and_back(plain), plain) << value;
        }
    const Bytes zeros = all_of(std::vector<double>(block, 0));
    EXPECT_EQ(there_and_back(all_of(std::vector<double>(block, -0.0))), zeros);
}

TEST_P(Quantizer, NanAndInfComeBackAndNothingElseBecomesThem) {
    for (const std::size_t count : {std::size_t{7}, block, 3 * block + 100}) {
        const Bytes plain = make_data(Data::special, type(), count);
        const Bytes back = there_and_back(plain);
        for (std::size_t i = 0; i < count; ++i) {
            const double was = value(plain, i), is = value(back, i);
            ASSERT_EQ(std::isnan(was), std::isnan(is)) << i;
            ASSERT_EQ(std::isinf(was) ? was : 0, std::isinf(is) ? is : 0) << i;
        }
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Bytes back = there_and_back(all_of(std::vector<double>(block, nan)));
    for (std::size_t i = 0; i < block; ++i) ASSERT_TRUE(std::isnan(value(back, i)));
}

TEST_P(Quantizer, ScalesAndOffsetsThatAreNotFiniteAreRefused) {
    const bool is_fp64 = type() == ElementType::f64;
    const std::size_t wide = is_fp64 ? 8 : 4;
    for (const std::size_t count : {std::size_t{9}, block, 2 * block})
        for (const std::size_t at : {std::size_t{0}, wide})
            for (const double bad :
                 {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::quiet_NaN()}) {
                Bytes encoded = encode(make_data(Data::normal, type(), count));
                ASSERT_TRUE(decodes(encoded, count));
                const std::uint64_t bits =
                    bits_of(is_fp64 ? ElementType::f64 : ElementType::f32, bad);
                std::memcpy(encoded.data() + at, &bits, wide);
                ASSERT_FALSE(decodes(encoded, count)) << bad << " at byte " << at;
            }
}

TEST_P(Quantizer, TheHalfByteBehindAnOddNumberOfCodesMustBeZero) {
    if (codec_.id != CodecId::int4) return;
    Bytes encoded = encode(make_data(Data::normal, type(), 9));
    encoded.back() |= std::byte{0x10};
    EXPECT_FALSE(decodes(encoded, 9));
}

INSTANTIATE_TEST_SUITE_P(All, Quantizer, testing::ValuesIn(quantizer_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
