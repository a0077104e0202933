// The benchmark's data: reproducible, different on every rank, distributed as named.
#include "element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace gradcoll::bench {
namespace {

constexpr std::size_t count = 100'000;

std::vector<double> values_of(const char* data, const char* type, std::uint64_t seed, int rank) {
    const Element& element = *find_element(type);
    const auto bytes = generate(data, element, count, seed, rank);
    std::vector<double> values(count);
    element.load(bytes.data(), count, values.data());
    return values;
}

double mean_magnitude(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += std::abs(value);
    }
    return sum / static_cast<double>(values.size());
}

TEST(BenchData, SameSeedAndRankGiveTheSameBytesOthersDoNot) {
    const auto values = values_of("normal", "float", 1, 0);
    EXPECT_EQ(values, values_of("normal", "float", 1, 0));
    EXPECT_NE(values, values_of("normal", "float", 1, 1));
    EXPECT_NE(values, values_of("normal", "float", 2, 0));
}

TEST(BenchData, MeanMagnitudesAreThoseOfTheDistributions) {
    EXPECT_NEAR(mean_magnitude(values_of("normal", "float", 1, 0)), std::sqrt(2 / M_PI), 0.02);
    EXPECT_NEAR(mean_magnitude(values_of("uniform", "double", 1, 0)), 0.5, 0.02);
    EXPECT_NEAR(mean_magnitude(values_of("laplace", "half", 1, 0)), 1.0, 0.02);
    EXPECT_NEAR(mean_magnitude(values_of("t3", "bf16", 1, 0)), 2 * std::sqrt(3.0) / M_PI, 0.03);
    EXPECT_EQ(mean_magnitude(values_of("constant", "float", 1, 0)), 1.0);
}

TEST(BenchData, GradientsHaveLayersWhoseScaleAllRanksShare) {
    const auto layer_magnitude = [](int rank, std::size_t layer) {
        const auto values = values_of("gradient", "float", 1, rank);
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(layer * 4096);
        return mean_magnitude({begin, begin + 4096});
    };
    double smallest = 1;
    double largest = 0;
    for (std::size_t layer = 0; layer < 8; ++layer) {
        const double magnitude = layer_magnitude(0, layer);
        EXPECT_NEAR(layer_magnitude(1, layer) / magnitude, 1, 0.1) << layer;
        smallest = std::min(smallest, magnitude);
        largest = std::max(largest, magnitude);
    }
    EXPECT_GT(largest, 5 * smallest);
    EXPECT_NE(values_of("gradient", "float", 1, 0), values_of("gradient", "float", 1, 1));
}

TEST(BenchData, IntegersAreScaledSoThatTheyAreNotAllZero) {
    EXPECT_NEAR(mean_magnitude(values_of("uniform", "int32", 1, 0)), 50, 2);
}

class RawFile : public testing::Test {
  protected:
    RawFile() : path_(testing::TempDir() + "gc_allreduce_raw_file_test") {
        std::ofstream file(path_, std::ios::binary);
        const float values[] = {1, 2, 3};
        file.write(reinterpret_cast<const char*>(values), sizeof values);
        file.write("xy", 2);
    }
    ~RawFile() override { std::remove(path_.c_str()); }

    std::vector<float> read(std::size_t elems, int rank) const {
        const auto bytes = generate("file:" + path_, *find_element("float"), elems, 1, rank);
        std::vector<float> values(elems);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

    std::string path_;
};

TEST_F(RawFile, IsReadRoundAndRoundFromTheRanksPlaceAndWithoutItsRaggedEnd) {
    EXPECT_EQ(read(4, 0), (std::vector<float>{1, 2, 3, 1}));
    EXPECT_EQ(read(4, 1), (std::vector<float>{2, 3, 1, 2}));
}

TEST(BenchData, UnreadableFileIsNamed) {
    try {
        generate("file:/does/not/exist", *find_element("float"), 1, 1, 0);
        FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("/does/not/exist"), std::string::npos);
    }
}

TEST(BenchData, NamesAreKnownAndOthersAreNot) {
    EXPECT_TRUE(is_data_name("t3"));
    EXPECT_TRUE(is_data_name("file:x"));
    EXPECT_FALSE(is_data_name("file:"));
    EXPECT_FALSE(is_data_name("gauss"));
}

}  // namespace
}  // namespace gradcoll::bench
