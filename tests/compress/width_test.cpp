// The codec `int`: the width of each block follows from its values and the tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compress/codec.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t block = 512;

Codec codec_named(const std::string& name) {
    return codec_for(codec_from_name(name).value(), ElementType::f32).value();
}

std::vector<std::byte> encoded(const Codec& codec, const float* values, std::size_t count) {
    std::vector<std::byte> out(bound_bytes(codec.id, sizeof(float), count));
    out.resize(codec.encode(values, count, out.data()));
    return out;
}

/// Returns values of blocks that differ in size by a factor of 10, now and then one far out.
std::vector<float> layers(std::size_t blocks) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> values(blocks * block - 5);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = normal(random) * std::pow(10.0F, static_cast<float>(i / block % 5) - 3);
    for (std::size_t i = 0; i < values.size(); i += 3000) values[i] = 1e4F;
    return values;
}

/// A width is chosen by what is in reach of its codes, and a value just out of reach may yet come
/// back near enough: so a block is now and then a little longer than the best.
TEST(Width, EachBlockIsAboutAsShortAsTheBestOfThree) {
    const std::vector<float> values = layers(20);
    std::size_t best_bytes = 0, made_bytes = 0;
    for (const char* abs : {"0.1", "0.01", "0.001", "1e-6"}) {
        const Codec any = codec_named(std::string("int/abs=") + abs);
        std::vector<std::size_t> taken(256);
        for (std::size_t at = 0; at < values.size(); at += block) {
            const std::size_t count = std::min(block, values.size() - at);
            std::size_t best = ~std::size_t{0};
            for (const char* width : {"int4", "int8", "int16"})
                best = std::min(best, encoded(codec_named(std::string(width) + "/abs=" + abs),
                                              &values[at], count)
                                          .size());
            const std::vector<std::byte> made = encoded(any, &values[at], count);
            const bool is_plain = made[0] == std::byte{0xff};
            EXPECT_GE(made.size(), best + (is_plain ? 0 : 1)) << abs << " from " << at;
            EXPECT_LE(made.size(), best + best / 32 + 1) << abs << " from " << at;
            best_bytes += best;
            made_bytes += made.size();
            ++taken[std::to_integer<std::size_t>(made[0])];
        }
        EXPECT_GT(std::count_if(taken.begin(), taken.end(), [](std::size_t n) { return n > 0; }), 1)
            << abs << ": one width serves all";
    }
    EXPECT_LE(made_bytes, best_bytes + best_bytes / 200);
}

TEST(Width, NoValueComesBackFurtherOff) {
    const std::vector<float> values = layers(40);
    for (const double abs : {0.1, 0.01, 0.001, 1e-6}) {
        const Codec any =
            codec_for(codec_with(codec_from_name("int/abs=1").value(), {.abs = abs}).value(),
                      ElementType::f32)
                .value();
        const std::vector<std::byte> made = encoded(any, values.data(), values.size());
        std::vector<float> back(values.size());
        ASSERT_TRUE(any.decode(made.data(), made.size(), back.size(), back.data()));
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_LE(std::abs(static_cast<double>(values[i]) - static_cast<double>(back[i])), abs);
    }
}

TEST(Width, WhatIsNoBlockIsRefused) {
    const Codec any = codec_named("int/abs=0.01");
    const std::vector<float> values = layers(1);
    std::vector<std::byte> made = encoded(any, values.data(), values.size());
    std::vector<float> back(values.size());
    ASSERT_TRUE(any.decode(made.data(), made.size(), back.size(), back.data()));
    for (const int first : {0, 1, 5, 12, 32, 64, 254, 255}) {
        made[0] = static_cast<std::byte>(first);
        EXPECT_FALSE(any.decode(made.data(), made.size(), back.size(), back.data())) << first;
    }
    std::vector<std::byte> plain(1 + sizeof(float) + values.size() * sizeof(float),
                                 std::byte{0xff});
    EXPECT_TRUE(any.decode(plain.data() + 1, plain.size() - 1, back.size(), back.data()));
    plain[0] = std::byte{8};
    EXPECT_FALSE(any.decode(plain.data(), plain.size(), back.size(), back.data()))
        << "a plain block behind a width";
}

}  // namespace
}  // namespace gradcoll
