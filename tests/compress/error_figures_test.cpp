// What the lossy codecs cost on normally distributed values: the figures of this file, within 0.02.
#include <cmath>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

struct Figure {
    CodecId codec;
    double relative_l2_error;
};

class ErrorFigures : public testing::TestWithParam<Figure> {};

double relative_error(const Codec& codec, const std::vector<float>& in) {
    std::vector<std::byte> encoded(bound_bytes(codec.id, 4, in.size()));
    std::vector<float> out(in.size());
    codec.encode(in.data(), in.size(), encoded.data());
    EXPECT_TRUE(codec.decode(encoded.data(), encoded.size(), in.size(), out.data()));
    double wrong = 0, all = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        wrong += std::pow(double{in[i]} - double{out[i]}, 2);
        all += std::pow(double{in[i]}, 2);
    }
    return std::sqrt(wrong / all);
}

TEST_P(ErrorFigures, RelativeErrorOfGaussianValuesIsTheKnownOne) {
    const std::size_t count = 200'000;
    const Bytes bytes = make_data(Data::normal, ElementType::f32, count);
    std::vector<float> in(count);
    std::memcpy(in.data(), bytes.data(), bytes.size());
    const Codec codec = *codec_for(GetParam().codec, ElementType::f32);
    EXPECT_NEAR(relative_error(codec, in), GetParam().relative_l2_error, 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Gaussian, ErrorFigures,
    testing::Values(Figure{CodecId::exact, 0}, Figure{CodecId::nm_2_4, 0.364},
                    Figure{CodecId::nm_4_8, 0.321}, Figure{CodecId::nm_2_8, 0.579},
                    Figure{CodecId::nm_1_4, 0.618}, Figure{CodecId::bf16, 0.0017},
                    Figure{CodecId::int8, 0.0064}, Figure{CodecId::int4, 0.109},
                    Figure{CodecId::int16, 0.00003}));

}  // namespace
}  // namespace gradcoll::test
