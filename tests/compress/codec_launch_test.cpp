// What a launch of GPU codecs refuses before anything starts; which form a job takes; and where the
// windows of a message lie when it is too long for any test.
#include "compress/codec_launch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "compress/nm/nm_warp_form.hpp"

namespace gradcoll {
namespace {

std::vector<WarpJob>& started() {
    static std::vector<WarpJob> jobs;
    return jobs;
}
/// Returns kernels for N:M of floats, and exact for all types; they remember the jobs.
BatchKernel kernel_of(CodecId codec, const CodecParameters&, ElementType type, CodecWork) {
    if (!codec_supports(codec, type) || type == ElementType::opaque) return {};
    return {[](const Batch& batch, unsigned, void*) -> const char* {
                started().insert(started().end(), batch.job, batch.job + batch.jobs);
                return nullptr;
            },
            512, 32};
}

class CodecLaunching : public testing::Test {
  protected:
    void SetUp() override { started().clear(); }
    std::byte* at(std::size_t offset) { return memory_ + offset; }
    CodecLaunch call(CodecWork work) {
        return {work, CodecId::nm_2_4, ElementType::f32, nullptr, &invalid_};
    }
    Status launch(const CodecLaunch& call, const CodecJob& job,
                  CodecForm form = CodecForm::by_alignment) {
        return launch_codec(kernel_of, form, call, {&job, 1});
    }
    alignas(64) std::byte memory_[64] = {};
    std::uint32_t invalid_ = 0;
};

TEST_F(CodecLaunching, WhatIsNotDefinedIsUnsupportedByName) {
    CodecLaunch ints = call(CodecWork::encode);
    ints.type = ElementType::i32;
    const Status status = launch(ints, {});
    EXPECT_EQ(status.code(), Code::unsupported);
    EXPECT_NE(status.message().find("2:4"), std::string::npos);
    EXPECT_NE(status.message().find("int32"), std::string::npos);
    CodecLaunch unknown = call(CodecWork::encode);
    unknown.codec = static_cast<CodecId>(99);
    EXPECT_EQ(launch(unknown, {}).code(), Code::unsupported);
}

TEST_F(CodecLaunching, BuffersThatAreUsedMustBeThereAndAligned) {
    const CodecLaunch encode = call(CodecWork::encode), sum = call(CodecWork::decode_sum);
    EXPECT_TRUE(launch(encode, {at(4), nullptr, nullptr, at(2), 8}).ok());
    EXPECT_EQ(launch(encode, {at(2), nullptr, nullptr, at(0), 8}).code(), Code::invalid_buffer);
    EXPECT_EQ(launch(encode, {at(0), nullptr, nullptr, at(1), 8}).code(), Code::invalid_buffer);
    EXPECT_EQ(launch(encode, {nullptr, nullptr, nullptr, at(0), 8}).code(), Code::invalid_buffer);
    EXPECT_EQ(launch(sum, {at(0), nullptr, at(2), at(0), 8}).code(), Code::invalid_buffer);
    const Status residual =
        launch(call(CodecWork::encode_with_residual), {at(0), nullptr, nullptr, at(0), 8});
    EXPECT_NE(residual.message().find("residual"), std::string::npos) << residual.message();
}

TEST_F(CodecLaunching, EmptyJobsNeedNoBuffers) {
    EXPECT_TRUE(launch(call(CodecWork::encode), {}).ok());
    EXPECT_TRUE(started().empty());
}

TEST_F(CodecLaunching, DecodingNeedsAWordForInvalid) {
    CodecLaunch decode = call(CodecWork::decode);
    decode.invalid = nullptr;
    EXPECT_EQ(launch(decode, {at(0), nullptr, nullptr, at(0), 8}).code(), Code::invalid_buffer);
    decode.codec = CodecId::exact;  // any bytes are an encoding
    EXPECT_TRUE(launch(decode, {at(0), nullptr, nullptr, at(0), 8}).ok());
}

TEST_F(CodecLaunching, VariableRateNeedsAnEntryForEachBlock) {
    const auto any_codec = [](CodecId, const CodecParameters&, ElementType, CodecWork) {
        return kernel_of(CodecId::nm_2_4, {}, ElementType::f32, CodecWork::encode);
    };
    CodecLaunch encode = call(CodecWork::encode);
    encode.codec = CodecId::int8;
    encode.parameters.rel = 0.125;
    CodecJob job{at(0), nullptr, nullptr, at(0), 8};
    const auto launched = [&] {
        return launch_codec(any_codec, CodecForm::by_alignment, encode, {&job, 1});
    };
    EXPECT_NE(launched().message().find("blocks"), std::string::npos) << launched().message();
    job.blocks = reinterpret_cast<CodedBlock*>(at(4));
    EXPECT_EQ(launched().code(), Code::invalid_buffer);
    job.blocks = reinterpret_cast<CodedBlock*>(at(16));
    ASSERT_TRUE(launched().ok());
    EXPECT_EQ(started().back().blocks, at(16));
    EXPECT_EQ(started().back().rel, 0.125);
    encode.parameters = {.call_parts = 1};
    EXPECT_EQ(launched().code(), Code::unsupported) << "what the call says is missing";
    encode.codec = *codec_with(CodecId::int8, {.rel = 0.125});
    encode.parameters = {.rel = 0.125};
    EXPECT_EQ(launched().code(), Code::unsupported) << "parameters are told apart from the codec";
}

TEST_F(CodecLaunching, OneBadJobStopsAllBeforeTheFirst) {
    const CodecJob jobs[] = {{at(0), nullptr, nullptr, at(0), 8},
                             {at(0), nullptr, nullptr, at(1), 8}};
    EXPECT_FALSE(
        launch_codec(kernel_of, CodecForm::by_alignment, call(CodecWork::encode), jobs).ok());
    EXPECT_TRUE(started().empty());
}

TEST_F(CodecLaunching, WholeBlocksOfAlignedMemoryGoByTheVectorForm) {
    const CodecLaunch encode = call(CodecWork::encode);
    EXPECT_TRUE(launch(encode, {at(16), nullptr, nullptr, at(32), 1100}).ok());
    EXPECT_EQ(started().back().tiles, 2u);
    EXPECT_TRUE(launch(encode, {at(4), nullptr, nullptr, at(32), 1100}).ok());
    EXPECT_EQ(started().back().tiles, 0u);
    EXPECT_TRUE(launch(encode, {at(16), nullptr, nullptr, at(32), 1100}, CodecForm::warp).ok());
    EXPECT_EQ(started().back().tiles, 0u);
    EXPECT_TRUE(launch(encode, {at(16), nullptr, nullptr, at(32), 1100}, CodecForm::vector).ok());
    EXPECT_EQ(started().back().tiles, 2u);
    EXPECT_EQ(launch(encode, {at(4), nullptr, nullptr, at(0), 1100}, CodecForm::vector).code(),
              Code::invalid_buffer);
}

// The index arithmetic, beyond 2^31 and 2^32 elements.

template <class S>
void expect_places(CodecId codec, std::size_t elem) {
    for (const std::size_t blocks : {std::size_t{3}, std::size_t{1} << 23, std::size_t{9} << 30}) {
        const std::size_t count = blocks * 512 + 173;
        const std::size_t window = blocks * 16;  // the first one of the tail
        const auto last_of_block = nm::place_of<S>(window - 1, count, elem);
        EXPECT_EQ(last_of_block.mask_at, bound_bytes(codec, elem, (blocks - 1) * 512) + 60);
        EXPECT_EQ(last_of_block.kept_at + S::window_kept * elem,
                  bound_bytes(codec, elem, blocks * 512));
        EXPECT_EQ(last_of_block.present, 32u);
        EXPECT_EQ(last_of_block.grouped, 32u);
        const auto tail = nm::place_of<S>(window, count, elem);
        EXPECT_EQ(tail.mask_at, bound_bytes(codec, elem, blocks * 512));
        const auto end = nm::place_of<S>(window + 5, count, elem);  // elements 160 to 172
        EXPECT_EQ(end.present, 13u);
        EXPECT_EQ(end.grouped, 13u / S::M * S::M);
        EXPECT_EQ(end.first_left_over + (13 % S::M) * elem, bound_bytes(codec, elem, count));
    }
}

TEST(NmPlaces, LieWhereTheSizeOfTheEncodingSaysAlsoBeyond32Bits) {
    for (const std::size_t elem : {2, 4, 8}) {
        expect_places<nm::Shape<1, 4>>(CodecId::nm_1_4, elem);
        expect_places<nm::Shape<2, 4>>(CodecId::nm_2_4, elem);
        expect_places<nm::Shape<1, 8>>(CodecId::nm_1_8, elem);
        expect_places<nm::Shape<2, 8>>(CodecId::nm_2_8, elem);
        expect_places<nm::Shape<4, 8>>(CodecId::nm_4_8, elem);
        expect_places<nm::Shape<1, 16>>(CodecId::nm_1_16, elem);
    }
}

}  // namespace
}  // namespace gradcoll
