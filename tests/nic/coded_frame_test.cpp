// Frames from their plain form to the coded one and back, and what comes of those that are neither.
#include "nic/coded_frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "compress/frame.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t frame_bytes = std::size_t{128} << 10;
using Bytes = std::vector<std::byte>;

std::vector<Codec> codecs_for_all_types() {
    std::vector<CodecId> ids(all_codecs().begin() + 1, all_codecs().end());
    for (const char* form : {"int8/seed=7", "int4/abs=0.01", "int8/abs=0.01", "int8/rel=0.01",
                             "int16/abs=1e-4", "int/abs=0.003", "int/abs=1e-12", "bound/abs=0.001",
                             "int8+zstd", "2:4+lz4", "bound/abs=0.001+zstd"})
        ids.push_back(codec_from_name(form).value());
    std::vector<Codec> codecs;
    for (const CodecId id : ids)
        for (const ElementType type :
             {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
            if (codec_supports(id, type)) codecs.push_back(codec_for(id, type).value());
    return codecs;
}

/// Returns floats by their bits, so every type's values are small and large ones.
Bytes plain_frame(const Codec& codec, std::size_t count, unsigned seed) {
    Bytes frame(frame_header_bytes + count * element_bytes(codec.type));
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (std::size_t at = frame_header_bytes; at < frame.size(); at += element_bytes(codec.type)) {
        const double wide = normal(random);
        const auto single = static_cast<float>(wide);
        if (codec.type == ElementType::f64) std::memcpy(&frame[at], &wide, 8);
        if (codec.type == ElementType::f32) std::memcpy(&frame[at], &single, 4);
        if (codec.type == ElementType::bf16)
            std::memcpy(&frame[at], reinterpret_cast<const std::byte*>(&single) + 2, 2);
        const auto half = static_cast<std::uint16_t>((random() & 0x83ff) | 0x3800);
        if (codec.type == ElementType::f16) std::memcpy(&frame[at], &half, 2);
    }
    write_plain_header(codec, count, frame.data());
    return frame;
}

/// Returns what the codec alone makes of the elements, block by block.
Bytes decoded_by(const Codec& codec, const Bytes& frame) {
    const std::size_t size = element_bytes(codec.type);
    Bytes out = frame;
    Bytes room(2 * bound_bytes(codec.id, codec.parameters, size, lossy_block_elems));
    const std::size_t count = (frame.size() - frame_header_bytes) / size;
    const std::size_t block = codec_block_elems(codec.id, codec.parameters);
    for (std::size_t at = 0; at < count; at += block) {
        const std::size_t elems = std::min(block, count - at);
        std::byte* const values = out.data() + frame_header_bytes + at * size;
        const std::size_t bytes = codec.encode(values, elems, room.data());
        EXPECT_TRUE(codec.decode(room.data(), bytes, elems, values));
    }
    return out;
}

TEST(CodedFrame, ComesBackAsTheCodecDecodesIt) {
    FrameCoder there, back;
    std::map<ElementType, int> batches;
    for (const Codec& codec : codecs_for_all_types()) {
        const std::size_t most = coded_frame_elems(codec, frame_bytes);
        ASSERT_GT(most, 0U);
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{511}, std::size_t{513}, most - 1, most}) {
            SCOPED_TRACE(std::string(name_of(codec.id)) + " of " + std::to_string(count) + " " +
                         std::string(name_of(codec.type)));
            const Bytes plain = plain_frame(codec, count, 3);
            ASSERT_LE(plain.size(), frame_bytes);
            for (const std::uint64_t spare_ns : {std::uint64_t{0}, ~std::uint64_t{0}}) {
                const auto coded = there.encode(plain, coding_of(codec), spare_ns);
                ASSERT_TRUE(coded.ok()) << coded.status().message();
                ASSERT_LE(coded->size(), frame_bytes);
                if (TwoStreams::is_batch(*coded)) ++batches[codec.type];
                Bytes room(frame_bytes);
                const auto size = back.decode(*coded, room);
                ASSERT_TRUE(size.ok()) << size.status().message();
                room.resize(*size);
                EXPECT_EQ(room, decoded_by(codec, plain));
                EXPECT_TRUE(elements_of_plain(codec, room).ok());
            }
        }
    }
    EXPECT_EQ(batches.size(), 4U) << "no two streams of some type";
}

TEST(CodedFrame, OfAnotherCodecIsNotTakenForOurs) {
    const Codec ours = codec_for(CodecId::int8, ElementType::f32).value();
    for (const char* other : {"int4", "int8/seed=7", "int8/abs=0.5"}) {
        const Codec theirs = codec_for(codec_from_name(other).value(), ElementType::f32).value();
        EXPECT_FALSE(elements_of_plain(ours, plain_frame(theirs, 100, 1)).ok()) << other;
    }
    EXPECT_TRUE(elements_of_plain(ours, plain_frame(ours, 100, 1)).ok());
    EXPECT_FALSE(elements_of_plain(ours, Bytes(10)).ok());
}

TEST(CodedFrame, HasNoMoreElementsThanTheReceiverHasRoomFor) {
    const Codec codec = codec_for(CodecId::int8, ElementType::f32).value();
    FrameCoder coder;
    const Bytes plain = plain_frame(codec, 1024, 1);
    const auto coded = coder.encode(plain, coding_of(codec));
    Bytes room(plain.size() - 1);
    EXPECT_EQ(coder.decode(*coded, room).status().code(), Code::corrupt);
}

/// The damage is bits that turn, ends that are missing, plain forms that are none. The result is an
/// error, or a frame within its room.
TEST(CodedFrame, SurvivesDamage) {
    std::mt19937_64 random(11);
    FrameCoder coder;
    int refused = 0;
    for (const Codec& codec : codecs_for_all_types())
        for (int round = 0; round < 300; ++round) {
            const std::size_t count = 1 + random() % 1500;
            Bytes plain = plain_frame(codec, count, 5);
            const auto encoded =
                coder.encode(plain, coding_of(codec), round % 2 == 0 ? 0 : ~std::uint64_t{0});
            ASSERT_TRUE(encoded.ok());
            Bytes coded(encoded->begin(), encoded->end());
            for (Bytes* form : {&plain, &coded}) {
                const std::size_t reach = random() % 2 == 0 ? frame_header_bytes : form->size();
                (*form)[random() % reach] ^= static_cast<std::byte>(1U << random() % 8);
                if (random() % 4 == 0) form->resize(random() % form->size());
            }
            Bytes room(plain.size() + 100);
            if (!coder.decode(coded, room).ok()) ++refused;
            if (!coder.encode(plain, static_cast<NicCoding>(1 + random() % 3)).ok()) ++refused;
        }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace gradcoll
