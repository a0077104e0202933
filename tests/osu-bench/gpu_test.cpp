// What gc_bench gpu's command line accepts, and the bytes that it counts.
#include <gtest/gtest.h>

#include <vector>

#include "moved_bytes.hpp"
#include "options.hpp"

namespace gradcoll::bench {
namespace {

GpuCommandLine parse(std::vector<const char*> words) {
    words.insert(words.begin(), "gc_bench gpu");
    return parse_gpu_command_line(static_cast<int>(words.size()), words.data());
}

void expect_refused(const std::vector<const char*>& words, const char* named) {
    const GpuCommandLine result = parse(words);
    EXPECT_FALSE(result.run) << named;
    EXPECT_EQ(result.exit_status, 2) << named;
    EXPECT_NE(result.text.find(named), std::string::npos) << result.text;
}

constexpr Kind two_of_four{CodecId::nm_2_4, ElementType::f32};

// A block of 512 fp32 elements: 2048 bytes of values, 64 of masks, 1024 of what is kept.
TEST(GpuMovedBytes, EncodeReadsValuesAndWritesMasksAndKeptValues) {
    const MovedBytes moved = moved_bytes(two_of_four, CodecWork::encode, 512);
    EXPECT_EQ(moved.read, 2048u);
    EXPECT_EQ(moved.written, 1088u);
}

TEST(GpuMovedBytes, AResidualIsReadAndWritten) {
    const MovedBytes moved = moved_bytes(two_of_four, CodecWork::encode_with_residual, 512);
    EXPECT_EQ(moved.read, 2048u + 2048u);
    EXPECT_EQ(moved.written, 1088u + 2048u);
}

TEST(GpuMovedBytes, ResidualsOfHalvesAreFp32) {
    const Kind half{CodecId::nm_2_4, ElementType::f16};
    const MovedBytes moved = moved_bytes(half, CodecWork::encode_with_residual, 512);
    EXPECT_EQ(moved.read, 1024u + 2048u);
    EXPECT_EQ(moved.written, 64u + 512u + 2048u);
}

TEST(GpuMovedBytes, DecodeAndSumReadsTheBaseToo) {
    EXPECT_EQ(moved_bytes(two_of_four, CodecWork::decode, 512).total(), 1088u + 2048u);
    EXPECT_EQ(moved_bytes(two_of_four, CodecWork::decode_sum, 512).read, 1088u + 2048u);
    EXPECT_EQ(moved_bytes(two_of_four, CodecWork::decode_sum, 512).written, 2048u);
}

TEST(GpuCodecOptions, DefaultsMeasureTheSizeThatTheAimNames) {
    const GpuCommandLine result = parse({});
    ASSERT_TRUE(result.run) << result.text;
    EXPECT_EQ(result.options.sizes_bytes.back(), 256u << 20);
    EXPECT_EQ(result.options.kinds.front(), two_of_four);
    EXPECT_EQ(result.options.works.size(), 4u);
}

TEST(GpuCodecOptions, ListsAreTakenInOrder) {
    const GpuCommandLine result =
        parse({"--codecs", "bf16/fp32,1:4/fp64", "--works", "decode", "-m", "4M:4M"});
    ASSERT_TRUE(result.run) << result.text;
    EXPECT_EQ(result.options.kinds, (std::vector<Kind>{{CodecId::bf16, ElementType::f32},
                                                       {CodecId::nm_1_4, ElementType::f64}}));
    EXPECT_EQ(result.options.works, std::vector<CodecWork>{CodecWork::decode});
}

TEST(GpuCodecOptions, WhatIsWrongIsNamed) {
    expect_refused({"--bogus"}, "--bogus");
    expect_refused({"-m", "2M:1M"}, "2M:1M");
    expect_refused({"-m", "512K:4M"}, "at least 1M");
    expect_refused({"--codecs", "2:4"}, "CODEC/TYPE");
    expect_refused({"--codecs", "9:9/fp32"}, "9:9");
    expect_refused({"--codecs", "2:4/int8"}, "int8");
    expect_refused({"--codecs", "exact/fp32"}, "no such kernel");
    expect_refused({"--codecs", "bf16/fp64"}, "no such kernel");
    expect_refused({"--works", "guess"}, "guess");
    expect_refused({"--repeats", "0"}, "--repeats");
}

}  // namespace
}  // namespace gradcoll::bench
