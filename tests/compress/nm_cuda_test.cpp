// On a GPU: the bytes and sums of the CPU's codecs. Skipped where there is no device.
#include "compress/nm/nm_cuda.hpp"

#include <cuda_runtime_api.h>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {
namespace {

/// Device memory with the content of a host array.
class DeviceBuffer {
  public:
    explicit DeviceBuffer(const Bytes& content) : bytes_(content.size()) {
        EXPECT_EQ(cudaMalloc(&memory_, bytes_ + 1), cudaSuccess);
        EXPECT_EQ(cudaMemcpy(memory_, content.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(memory_); }
    std::byte* data() const { return static_cast<std::byte*>(memory_); }
    Bytes content() const {
        Bytes out(bytes_);
        EXPECT_EQ(cudaMemcpy(out.data(), memory_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
        return out;
    }

  private:
    void* memory_ = nullptr;
    std::size_t bytes_;
};

std::vector<CodecCase> nm_cases() {
    std::vector<CodecCase> cases = lossy_codec_cases();
    std::erase_if(cases, [](const CodecCase& c) {
        return c.codec == CodecId::bf16 || c.isa != InstructionSet::scalar;
    });
    return cases;
}

class NmCudaContract : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
            GTEST_SKIP() << "no CUDA device";
    }
    NmCudaCall call(std::size_t count) const {
        return {GetParam().codec, GetParam().type, count, nullptr};
    }
    Bytes reference(const Bytes& plain) const {
        return reference_encode(GetParam().codec, GetParam().type, plain);
    }
};

TEST_P(NmCudaContract, EncodesToTheBytesOfTheReference) {
    for (const Data data : all_data)
        for (const std::size_t count : hard_counts()) {
            const Bytes plain = make_data(data, GetParam().type, count), want = reference(plain);
            const DeviceBuffer in(plain), out{Bytes(want.size())};
            const Status status = nm_encode_cuda(call(count), in.data(), out.data());
            ASSERT_TRUE(status.ok()) << status.message();
            ASSERT_EQ(out.content(), want) << count;
        }
}

TEST_P(NmCudaContract, AddsDecodedValuesToTheBase) {
    for (const Data data : all_data)
        for (const std::size_t count : hard_counts()) {
            const Bytes encoded = reference(make_data(data, GetParam().type, count));
            const Bytes base = make_data(data, GetParam().type, count, 2);
            const DeviceBuffer in(encoded), sum(base), invalid{Bytes(4)};
            const Status status =
                nm_decode_sum_cuda(call(count), in.data(), sum.data(), sum.data(),
                                   reinterpret_cast<std::uint32_t*>(invalid.data()));
            ASSERT_TRUE(status.ok()) << status.message();
            ASSERT_EQ(invalid.content(), Bytes(4));
            const Bytes want = reference_sum(GetParam().codec, GetParam().type, encoded, base);
            ASSERT_TRUE(same_but_nan_payload(GetParam().type, sum.content(), want)) << count;
        }
}

TEST_P(NmCudaContract, AnIllegalMaskIsReported) {
    const std::size_t count = 560;
    Bytes encoded = reference(make_data(Data::normal, GetParam().type, count));
    encoded[0] ^= std::byte{1};
    const DeviceBuffer in(encoded), sum{Bytes(count * element_bytes(GetParam().type))},
        invalid{Bytes(4)};
    ASSERT_TRUE(nm_decode_sum_cuda(call(count), in.data(), sum.data(), sum.data(),
                                   reinterpret_cast<std::uint32_t*>(invalid.data()))
                    .ok());
    EXPECT_NE(invalid.content(), Bytes(4));
}

INSTANTIATE_TEST_SUITE_P(All, NmCudaContract, testing::ValuesIn(nm_cases()), case_name);

}  // namespace
}  // namespace gradcoll::test
