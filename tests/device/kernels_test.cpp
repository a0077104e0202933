// Codecs and reductions of every plug-in: the bytes and values of the CPU's.
#include <algorithm>

#include "compress/codec.hpp"
#include "compress/codec_form.hpp"
#include "device/contract.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll::test {
namespace {

constexpr ElementType all_types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                     ElementType::f64, ElementType::i8,   ElementType::u8,
                                     ElementType::i16, ElementType::u16,  ElementType::i32,
                                     ElementType::u32, ElementType::i64,  ElementType::u64};
constexpr ReduceOp all_ops[] = {ReduceOp::sum,  ReduceOp::prod, ReduceOp::min,  ReduceOp::max,
                                ReduceOp::land, ReduceOp::lor,  ReduceOp::lxor, ReduceOp::band,
                                ReduceOp::bor,  ReduceOp::bxor};
constexpr std::size_t counts[] = {0, 1, 31, 512, 1000, 4097};

using Bytes = std::vector<std::byte>;

/// Returns elements as if by chance; no NaN, whose bits may differ, and no float that overflows.
Bytes elements(ElementType type, std::size_t count, unsigned seed) {
    Bytes bytes = pattern(count * element_bytes(type), seed);
    const std::size_t size = element_bytes(type);
    for (std::size_t i = 0; is_floating(type) && i < count; ++i) {
        std::byte& top = bytes[i * size + size - 1];  // sign and the high exponent: below 1
        top = (top & std::byte{0x80}) |
              std::byte{type == ElementType::bf16 || type == ElementType::f32 ||
                                type == ElementType::f64
                            ? std::uint8_t{0x3d}
                            : std::uint8_t{0x30}};
    }
    return bytes;
}

std::size_t residual_bytes(ElementType type) {
    return type == ElementType::f64 ? sizeof(double) : sizeof(float);
}

std::vector<CodecId> codecs_in_all_forms() {
    std::vector<CodecId> codecs;
    for (const NamedForm& form : all_codec_forms()) codecs.push_back(codec_of(form).value());
    return codecs;
}

class DeviceKernels : public DeviceTest {
  protected:
    std::unique_ptr<DeviceBuffer> on_device(const Bytes& bytes) {
        auto buffer = std::make_unique<DeviceBuffer>(*device_, bytes.size());
        fill(buffer->data(), bytes);
        return buffer;
    }
    Bytes content_of(const DeviceBuffer& buffer) {
        return content(buffer.data(), buffer.size_bytes());
    }
    /// A launch of no jobs says whether there are kernels. Those of the library's own codecs of
    /// fixed rate are everywhere, but for chains; a stage from outside may have none.
    bool is_served(CodecId codec, ElementType type) {
        if (!has_fixed_rate(codec)) return false;
        const bool is_chain = name_of(codec).find('+') != std::string_view::npos;
        const bool is_own = static_cast<int>(codec) < 128 && !is_chain;
        return is_own || plugin_->launch_codec(launch(CodecWork::encode, codec, type), {}).ok();
    }
    CodecLaunch launch(CodecWork work, CodecId codec, ElementType type,
                       std::uint32_t* invalid = nullptr) {
        return {work, plain(codec), type, stream_->native(), invalid, parameters_of(codec)};
    }
};

TEST_F(DeviceKernels, EncodingsAreThoseOfTheCpuWithAndWithoutResidual) {
    for (const CodecId id : codecs_in_all_forms())
        for (const ElementType type : all_types) {
            const auto codec = codec_for(id, type);
            if (!codec.ok() || !is_served(id, type)) continue;
            for (const std::size_t count : counts) {
                const Bytes in = elements(type, count, 1);
                Bytes want(bound_bytes(codec->id, element_bytes(type), count));
                codec->encode(in.data(), count, want.data());
                const auto from = on_device(in), to = on_device(Bytes(want.size()));
                const CodecJob job{from->data(), nullptr, nullptr, to->data(), count};
                ASSERT_TRUE(succeeds(
                    plugin_->launch_codec(launch(CodecWork::encode, codec->id, type), {&job, 1})));
                ASSERT_EQ(content_of(*to), want) << name_of(codec->id) << ' ' << name_of(type);
                if (codec->kernels.encode_with_residual == nullptr) continue;
                Bytes residual(count * residual_bytes(type));
                const auto residual_there = on_device(residual);
                codec->encode_with_residual(in.data(), residual.data(), count, want.data());
                const CodecJob with{from->data(), residual_there->data(), nullptr, to->data(),
                                    count};
                ASSERT_TRUE(succeeds(plugin_->launch_codec(
                    launch(CodecWork::encode_with_residual, codec->id, type), {&with, 1})));
                ASSERT_EQ(content_of(*to), want) << name_of(codec->id) << ' ' << name_of(type);
                ASSERT_EQ(content_of(*residual_there), residual);
            }
        }
}

TEST_F(DeviceKernels, DecodingsAreThoseOfTheCpuAndSumOnTop) {
    for (const CodecId id : codecs_in_all_forms())
        for (const ElementType type : all_types) {
            const auto codec = codec_for(id, type);
            if (!codec.ok() || !is_served(id, type)) continue;
            for (const std::size_t count : counts) {
                const Bytes plain = elements(type, count, 2), base = elements(type, count, 3);
                Bytes payload(bound_bytes(codec->id, element_bytes(type), count));
                codec->encode(plain.data(), count, payload.data());
                Bytes want(plain.size());
                ASSERT_TRUE(codec->decode(payload.data(), payload.size(), count, want.data()));
                const DeviceBuffer invalid(*device_, 4, DeviceBuffer::Kind::pinned);
                auto* const flag = reinterpret_cast<std::uint32_t*>(invalid.data());
                *flag = 0;
                const auto from = on_device(payload), under = on_device(base);
                const auto to = on_device(Bytes(plain.size()));
                const CodecJob job{from->data(), nullptr, nullptr, to->data(), count};
                ASSERT_TRUE(succeeds(plugin_->launch_codec(
                    launch(CodecWork::decode, codec->id, type, flag), {&job, 1})));
                ASSERT_EQ(content_of(*to), want) << name_of(codec->id) << ' ' << name_of(type);
                if (codec->kernels.decode_sum != nullptr) {
                    ASSERT_TRUE(codec->decode_sum(payload.data(), payload.size(), count,
                                                  base.data(), want.data()));
                    const CodecJob sum{from->data(), nullptr, under->data(), under->data(), count};
                    ASSERT_TRUE(succeeds(plugin_->launch_codec(
                        launch(CodecWork::decode_sum, codec->id, type, flag), {&sum, 1})));
                    ASSERT_EQ(content_of(*under), want)
                        << name_of(codec->id) << ' ' << name_of(type);
                }
                ASSERT_EQ(*flag, 0U);
            }
        }
}

TEST_F(DeviceKernels, JobsOfOneLaunchAreAllDone) {
    const auto codec = codec_for(CodecId::nm_2_4, ElementType::f32);
    std::vector<std::unique_ptr<DeviceBuffer>> ins, outs;
    std::vector<Bytes> wants;
    std::vector<CodecJob> jobs;
    for (std::size_t i = 0; i < 70; ++i) {
        const std::size_t count = 37 * i;
        const Bytes in = elements(ElementType::f32, count, static_cast<unsigned>(i));
        wants.emplace_back(bound_bytes(CodecId::nm_2_4, sizeof(float), count));
        codec->encode(in.data(), count, wants.back().data());
        ins.push_back(on_device(in));
        outs.push_back(on_device(Bytes(wants.back().size())));
        jobs.push_back({ins.back()->data(), nullptr, nullptr, outs.back()->data(), count});
    }
    ASSERT_TRUE(succeeds(
        plugin_->launch_codec(launch(CodecWork::encode, CodecId::nm_2_4, ElementType::f32), jobs)));
    for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(content_of(*outs[i]), wants[i]) << i;
}

TEST_F(DeviceKernels, APayloadThatIsNoneSetsTheWordAndNoOtherLaunchClearsIt) {
    const std::size_t payload_bytes = bound_bytes(CodecId::nm_2_4, sizeof(float), 512);
    const auto bad = on_device(Bytes(payload_bytes, std::byte{0x77}));   // keeps 3 of 4
    const auto good = on_device(Bytes(payload_bytes, std::byte{0x33}));  // keeps 2 of 4
    const DeviceBuffer to(*device_, 512 * sizeof(float));
    const auto invalid = on_device(Bytes(sizeof(std::uint32_t)));
    auto* const flag = reinterpret_cast<std::uint32_t*>(invalid->data());
    for (const auto& [payload, want] :
         {std::pair(good.get(), std::byte{0}), std::pair(bad.get(), std::byte{1}),
          std::pair(good.get(), std::byte{1})}) {
        const CodecJob job{payload->data(), nullptr, nullptr, to.data(), 512};
        ASSERT_TRUE(succeeds(plugin_->launch_codec(
            launch(CodecWork::decode, CodecId::nm_2_4, ElementType::f32, flag), {&job, 1})));
        EXPECT_EQ(content_of(*invalid)[0], want);
    }
}

TEST_F(DeviceKernels, ReductionsAreThoseOfTheCpuInPlaceToo) {
    for (const ReduceOp op : all_ops)
        for (const ElementType type : all_types) {
            const Reducer reducer = reducer_for(op, type);
            if (!reducer) continue;
            for (const std::size_t count : counts) {
                const Bytes a = elements(type, count, 4), b = elements(type, count, 5);
                Bytes want(a.size());
                reducer(a.data(), b.data(), want.data(), count);
                const auto a_there = on_device(a), b_there = on_device(b);
                const auto out = on_device(Bytes(a.size()));
                const ReduceJob job{a_there->data(), b_there->data(), out->data(), count};
                const ReduceLaunch call{op, type, stream_->native()};
                ASSERT_TRUE(succeeds(plugin_->launch_reduce(call, {&job, 1})));
                ASSERT_EQ(content_of(*out), want) << name_of(op) << ' ' << name_of(type);
                const ReduceJob in_place{a_there->data(), b_there->data(), b_there->data(), count};
                ASSERT_TRUE(succeeds(plugin_->launch_reduce(call, {&in_place, 1})));
                ASSERT_EQ(content_of(*b_there), want) << name_of(op) << ' ' << name_of(type);
            }
        }
}

TEST_F(DeviceKernels, KernelsKeepTheOrderOfTheirStream) {
    const std::size_t count = 10000;
    Bytes ones(count * sizeof(std::uint32_t));
    for (std::size_t i = 0; i < count; ++i) ones[i * sizeof(std::uint32_t)] = std::byte{1};
    const auto total = on_device(Bytes(ones.size())), one = on_device(ones);
    const ReduceJob job{total->data(), one->data(), total->data(), count};
    const ReduceLaunch call{ReduceOp::sum, ElementType::u32, stream_->native()};
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(succeeds(plugin_->launch_reduce(call, {&job, 1})));
    const Bytes got = content_of(*total);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(got[i * sizeof(std::uint32_t)], std::byte{100}) << i;
}

TEST_F(DeviceKernels, WhatDoesNotGoTogetherIsUnsupported) {
    const DeviceBuffer buffer(*device_, 4096);
    const CodecJob codec_job{buffer.data(), nullptr, nullptr, buffer.data() + 2048, 16};
    EXPECT_EQ(plugin_
                  ->launch_codec(launch(CodecWork::encode, CodecId::nm_2_4, ElementType::i32),
                                 {&codec_job, 1})
                  .code(),
              Code::unsupported);
    const ReduceJob reduce_job{buffer.data(), buffer.data() + 1024, buffer.data(), 16};
    EXPECT_EQ(
        plugin_
            ->launch_reduce({ReduceOp::band, ElementType::f32, stream_->native()}, {&reduce_job, 1})
            .code(),
        Code::unsupported);
}

TEST_F(DeviceKernels, MemoryThatIsNotAlignedToItsElementsIsRefused) {
    const DeviceBuffer buffer(*device_, 4096);
    const CodecJob codec_job{buffer.data() + 2, nullptr, nullptr, buffer.data() + 2048, 16};
    EXPECT_EQ(plugin_
                  ->launch_codec(launch(CodecWork::encode, CodecId::nm_2_4, ElementType::f32),
                                 {&codec_job, 1})
                  .code(),
              Code::invalid_buffer);
    const ReduceJob reduce_job{buffer.data(), buffer.data() + 1025, buffer.data(), 16};
    EXPECT_EQ(
        plugin_
            ->launch_reduce({ReduceOp::sum, ElementType::f32, stream_->native()}, {&reduce_job, 1})
            .code(),
        Code::invalid_buffer);
}

}  // namespace
}  // namespace gradcoll::test
