// What only a device can show: the order of a stream, and counts beyond 2^31.
#include <cuda_runtime_api.h>

#include "compress/codec_cases.hpp"
#include "compress/codec_cuda.hpp"
#include "compress/codec_machine.hpp"
#include "support/cuda_memory.hpp"

namespace gradcoll::test {
namespace {

class CudaCodec : public testing::Test {
  protected:
    void SetUp() override {
        if (!has_cuda_device()) GTEST_SKIP() << "no CUDA device";
        ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    }
    void TearDown() override {
        if (stream_ == nullptr) return;
        EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    }
    CodecLaunch call(CodecWork work, CodecId codec, ElementType type,
                     const TestArray* invalid = nullptr) const {
        return {work, codec, type, stream_,
                invalid == nullptr ? nullptr : reinterpret_cast<std::uint32_t*>(invalid->data())};
    }
    CudaMemory memory_;
    cudaStream_t stream_ = nullptr;
};

TEST_F(CudaCodec, WorkOfOneStreamRunsInItsOrderWithoutWaitingBetween) {
    const std::size_t count = std::size_t{1} << 20;
    const Codec codec = *codec_for(CodecId::nm_2_4, ElementType::f32, InstructionSet::scalar);
    const Bytes first = make_data(Data::normal, ElementType::f32, count, 1);
    const Bytes second = make_data(Data::normal, ElementType::f32, count, 2);
    Bytes payload(bound_bytes(CodecId::nm_2_4, 4, count)), want = second;
    codec.encode(first.data(), count, payload.data());
    ASSERT_TRUE(codec.decode_sum(payload.data(), payload.size(), count, want.data(), want.data()));
    ASSERT_TRUE(codec.decode_sum(payload.data(), payload.size(), count, want.data(), want.data()));
    const TestArray in(memory_, first, TestArray::Use::read);
    const TestArray sum(memory_, second, TestArray::Use::written);
    const TestArray between(memory_, Bytes(payload.size()), TestArray::Use::written);
    const TestArray invalid(memory_, Bytes(4), TestArray::Use::written);

    const CodecJob encode{in.data(), nullptr, nullptr, between.data(), count};
    const CodecJob add{between.data(), nullptr, sum.data(), sum.data(), count};
    const auto call_of = [&](CodecWork work) {
        return call(work, CodecId::nm_2_4, ElementType::f32, &invalid);
    };
    ASSERT_TRUE(launch_codec_cuda(call_of(CodecWork::encode), {&encode, 1}).ok());
    ASSERT_TRUE(launch_codec_cuda(call_of(CodecWork::decode_sum), {&add, 1}).ok());
    ASSERT_TRUE(launch_codec_cuda(call_of(CodecWork::decode_sum), {&add, 1}).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);

    EXPECT_EQ(sum.content(), want);
    EXPECT_EQ(invalid.content(), Bytes(4));
}

/// The values are bf16, so that 5 GB of them are enough. The last elements are what a 32-bit index
/// would miss.
TEST_F(CudaCodec, CountsBeyond32Bits) {
    const std::size_t count = (std::size_t{1} << 31) + 513 + 7, tail = 512 * 4 + 513 + 7;
    const std::size_t values = 2 * count, payload = bound_bytes(CodecId::nm_2_4, 2, count);
    std::size_t free_bytes = 0, total_bytes = 0;
    ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
    if (free_bytes < 2 * values + payload + (std::size_t{1} << 28))
        GTEST_SKIP() << "the device has too little free memory";
    std::byte* in = memory_.allocate(values);
    std::byte* out = memory_.allocate(values);
    std::byte* encoded = memory_.allocate(payload);
    const TestArray invalid(memory_, Bytes(4), TestArray::Use::written);
    const Bytes end = make_data(Data::special, ElementType::bf16, tail);
    ASSERT_EQ(cudaMemset(in, 0x3f, values), cudaSuccess);
    ASSERT_EQ(cudaMemset(out, 0, values), cudaSuccess);
    memory_.copy(in + values - end.size(), end.data(), end.size());

    const CodecJob encode{in, nullptr, nullptr, encoded, count};
    const CodecJob decode{encoded, nullptr, nullptr, out, count};
    const auto call_of = [&](CodecWork work) {
        return call(work, CodecId::nm_2_4, ElementType::bf16, &invalid);
    };
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_TRUE(launch_codec_cuda(call_of(CodecWork::encode), {&encode, 1}).ok());
    ASSERT_TRUE(launch_codec_cuda(call_of(CodecWork::decode), {&decode, 1}).ok());
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);

    Bytes got(end.size());
    memory_.copy(got.data(), out + values - end.size(), got.size());
    const Bytes want = reference_decode(CodecId::nm_2_4, ElementType::bf16,
                                        reference_encode(CodecId::nm_2_4, ElementType::bf16, end),
                                        elements_in(end, ElementType::bf16));
    EXPECT_EQ(got, want);
    EXPECT_EQ(invalid.content(), Bytes(4));
    memory_.release(in);
    memory_.release(out);
    memory_.release(encoded);
}

}  // namespace
}  // namespace gradcoll::test
