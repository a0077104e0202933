// Codecs of variable rate of every plug-in: block by block the bytes and values of the CPU's, and
// blocks that are moved.
#include <algorithm>

#include "compress/codec.hpp"
#include "compress/encode_block.hpp"
#include "device/contract.hpp"

namespace gradcoll::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Told {
    CodecId codec;
    CodecParameters parameters;
};
const Told told[] = {{CodecId::int8, {.abs = 1e-3}},   {CodecId::int8, {.rel = 0.1}},
                     {CodecId::int4, {.abs = 0.05}},   {CodecId::int4, {.rel = 0.3}},
                     {CodecId::int16, {.abs = 1e-20}}, {CodecId::int16, {.rel = 1e-3}}};

/// Returns some blocks of values near one another, some of anything, NaN aside.
template <class Float>
Bytes values_of(std::size_t count) {
    std::vector<Float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] =
            static_cast<Float>(static_cast<double>(i * 37 % 101) * (i / 512 % 3 == 1 ? 1e7 : 1e-3));
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + count * sizeof(Float)};
}

class DeviceBlocks : public DeviceTest {
  protected:
    std::size_t elem() const { return element_bytes(codec_.type); }
    std::size_t bound(std::size_t count) const {
        return bound_bytes(codec_.id, codec_.parameters, elem(), count);
    }
    std::size_t most_elems() const { return codec_block_elems(codec_.id, codec_.parameters); }
    CodecLaunch launch(CodecWork work, std::byte* invalid = nullptr) const {
        return {work,
                codec_.id,
                codec_.type,
                stream_->native(),
                reinterpret_cast<std::uint32_t*>(invalid),
                codec_.parameters};
    }
    static CodedBlock* table_in(const DeviceBuffer& pinned) {
        return reinterpret_cast<CodedBlock*>(pinned.data());
    }
    /// Returns what a receiver makes of a block.
    Bytes decoded(const std::byte* in, const CodedBlock& block, std::size_t count) const {
        Bytes values(count * elem());
        if (block.is_plain != 0) return {in, in + block.size_bytes};
        EXPECT_TRUE(codec_.decode(in, block.size_bytes, count, values.data()));
        return values;
    }

    void expect_works(const Told& what, ElementType type, const Bytes& plain);

    Codec codec_;
};

void DeviceBlocks::expect_works(const Told& what, ElementType type, const Bytes& plain) {
    codec_ = codec_for(what.codec, what.parameters, type).value();
    const std::size_t count = plain.size() / elem(), at = 64;
    const std::size_t blocks = (count + most_elems() - 1) / most_elems();
    const DeviceBuffer in(*device_, plain.size()), rooms(*device_, at + bound(count));
    const DeviceBuffer message(*device_, bound(count), DeviceBuffer::Kind::pinned);
    const DeviceBuffer made(*device_, blocks * sizeof(CodedBlock), DeviceBuffer::Kind::pinned);
    const DeviceBuffer sent(*device_, blocks * sizeof(CodedBlock), DeviceBuffer::Kind::pinned);
    const DeviceBuffer invalid(*device_, 4, DeviceBuffer::Kind::pinned);
    std::memset(invalid.data(), 0, 4);
    fill(in.data(), plain);
    const CodecJob encode{in.data(), nullptr, nullptr, rooms.data(), count, table_in(made), at};
    ASSERT_TRUE(succeeds(plugin_->launch_codec(launch(CodecWork::encode), {&encode, 1})));
    finish(*stream_);
    Bytes want_message, want_values;
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t first = b * most_elems(), elems = std::min(most_elems(), count - first);
        Bytes bytes(bound(elems));
        const CodedBlock want =
            encode_block(codec_, {plain.data() + first * elem(), nullptr, elems}, bytes.size(),
                         bytes.data())
                .value();
        const CodedBlock& got = table_in(made)[b];
        ASSERT_EQ(got.offset_bytes, at + b * bound(most_elems()));
        ASSERT_EQ(got.size_bytes, want.size_bytes);
        ASSERT_EQ(got.is_plain, want.is_plain);
        table_in(sent)[b].offset_bytes = want_message.size();
        want_message.insert(want_message.end(), bytes.begin(), bytes.begin() + want.size_bytes);
        const Bytes values = decoded(bytes.data(), want, elems);
        want_values.insert(want_values.end(), values.begin(), values.end());
    }
    const BlockMove move{rooms.data(), message.data(), table_in(made), table_in(sent), blocks};
    ASSERT_TRUE(succeeds(plugin_->move_blocks(stream_->native(), {&move, 1})));
    finish(*stream_);
    ASSERT_EQ(Bytes(message.data(), message.data() + want_message.size()), want_message);
    const DeviceBuffer out(*device_, plain.size());
    const CodecJob decode{message.data(), nullptr, nullptr, out.data(), count, table_in(sent)};
    ASSERT_TRUE(
        succeeds(plugin_->launch_codec(launch(CodecWork::decode, invalid.data()), {&decode, 1})));
    ASSERT_EQ(content(out.data(), plain.size()), want_values);
    ASSERT_EQ(invalid.data()[0], std::byte{0});
}

TEST_F(DeviceBlocks, AreThoseOfTheCpuAndMayBeMoved) {
    for (const Told& what : told)
        for (const std::size_t count : {1, 20, 512, 3000}) {
            SCOPED_TRACE(testing::Message() << name_of(what.codec) << ' ' << count);
            ASSERT_TRUE(plugin_->runs_codec(what.codec, what.parameters, ElementType::f32));
            ASSERT_NO_FATAL_FAILURE(expect_works(what, ElementType::f32, values_of<float>(count)));
            ASSERT_NO_FATAL_FAILURE(expect_works(what, ElementType::f64, values_of<double>(count)));
        }
}

TEST_F(DeviceBlocks, WhatACallSaysMustBeThereWhenItIsLaunched) {
    EXPECT_TRUE(plugin_->runs_codec(CodecId::int8, {.call_parts = 1}, ElementType::f32));
    EXPECT_FALSE(
        plugin_->runs_codec(CodecId::int8, {.abs = 1, .packing = Packing::zstd}, ElementType::f32));
    EXPECT_FALSE(plugin_->runs_codec(CodecId::bound, {.abs = 1}, ElementType::f32));
    CodecLaunch call{CodecWork::encode, CodecId::int8, ElementType::f32,
                     stream_->native(), nullptr,       {.call_parts = 1}};
    EXPECT_EQ(plugin_->launch_codec(call, {}).code(), Code::unsupported);
}

}  // namespace
}  // namespace gradcoll::test
