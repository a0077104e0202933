// Batches of two streams: what a decoder makes of them that was written from docs/nic.md and
// compress/zip/README.md alone, and when they are made at all.
#include "nic/two_streams.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "nic/coded_frame.hpp"

namespace gradcoll {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t for_ever = ~std::uint64_t{0};
constexpr std::size_t frame_bytes = std::size_t{128} << 10;

// ---- the decoder, of fp32

template <class T>
T number_at(const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Decodes a block of zip.
std::vector<std::uint32_t> unzipped(const std::byte* at, std::size_t count) {
    const auto first = static_cast<unsigned>(at[0]), base = static_cast<unsigned>(at[1]);
    const unsigned width = first & 15, rest_bytes = first >> 4 & 7;
    at += 2;
    std::vector<std::uint32_t> elements(count), highs, rests;
    if (width == 14) return elements;
    if (width == 15) {
        std::memcpy(elements.data(), at, 4 * count);
        return elements;
    }
    std::vector<bool> there(count, true);
    if (first >> 7 != 0) {
        for (std::size_t i = 0; i < count; ++i)
            there[i] = number_at<std::uint64_t>(at + i / 64 * 8) >> i % 64 & 1;
        at += (count + 63) / 64 * 8;
    }
    const auto codes = static_cast<std::size_t>(std::count(there.begin(), there.end(), true));
    for (std::size_t i = 0; i < codes; ++i) {
        std::uint32_t code = 0;
        for (unsigned bit = 0; bit < width; ++bit)
            code |= static_cast<std::uint32_t>(
                        number_at<std::uint64_t>(at + (i / 64 * width + bit) * 8) >> i % 64 & 1)
                    << bit;
        highs.push_back(code);
    }
    at += (codes + 63) / 64 * width * 8;
    for (std::uint32_t& code : highs)
        if (width >= 1 && width <= 7 && code == (1U << width) - 1)
            code = static_cast<std::uint32_t>(*at++);
    rests.resize(codes);
    for (unsigned byte = 3 - rest_bytes; byte < 3; ++byte)
        for (std::uint32_t& rest : rests) rest |= static_cast<std::uint32_t>(*at++) << 8 * byte;
    for (std::size_t i = 0, code = 0; i < count; ++i) {
        if (!there[i]) continue;
        elements[i] =
            (rests[code] >> 23) << 31 | (base - highs[code]) << 23 | (rests[code] & 0x7fffff);
        ++code;
    }
    return elements;
}

struct PageHead {
    unsigned kind = 0, originals = 0;
    float scale = 0, offset = 0;
    std::size_t elems = 0;
};

std::vector<std::uint32_t> originals_of(const Bytes& section, bool is_packed, std::size_t count) {
    std::vector<std::uint32_t> all(count);
    if (count == 0) return all;
    if (!is_packed) {
        std::memcpy(all.data(), section.data(), 4 * count);
        return all;
    }
    all.clear();
    for (std::size_t at = 0; all.size() < count;) {
        const auto block =
            unzipped(&section[at + 2], std::min<std::size_t>(512, count - all.size()));
        all.insert(all.end(), block.begin(), block.end());
        at += 2 + number_at<std::uint16_t>(&section[at]);
    }
    return all;
}

/// Decodes a batch. `kinds` counts its blocks by kind, and `packed` its packed sections.
std::vector<float> decoded_by_the_page(const Bytes& batch, std::array<int, 5>& kinds,
                                       std::array<int, 5>& packed) {
    const auto count = number_at<std::uint64_t>(&batch[16]);
    const bool has_tolerance = batch[6] == std::byte{15} || number_at<double>(&batch[32]) > 0 ||
                               number_at<double>(&batch[40]) > 0;
    const std::size_t block = has_tolerance ? 512 : 256;
    const std::byte* at = batch.data() + 64 + 5 * 4;
    std::vector<PageHead> heads;
    std::array<std::size_t, 5> plain_bytes{};
    for (std::size_t left = count; left > 0; left -= heads.back().elems) {
        const auto number = number_at<std::uint16_t>(at);
        PageHead head{number / 1024U, number % 1024U, 0, 0, std::min(block, left)};
        at += 2;
        if (head.kind != 4) {
            head.scale = number_at<float>(at);
            head.offset = number_at<float>(at + 4);
            at += 8;
        }
        if (head.kind == 1) plain_bytes[0] += (head.elems + 1) / 2;
        if (head.kind == 2) plain_bytes[1] += head.elems;
        if (head.kind == 3) plain_bytes[2] += head.elems;
        if (head.kind == 3) plain_bytes[3] += head.elems;
        plain_bytes[4] += 4 * head.originals;
        ++kinds[head.kind];
        heads.push_back(head);
    }
    std::array<Bytes, 5> sections;
    std::vector<std::uint32_t> originals;
    for (std::size_t i = 0; i < 5; ++i) {
        const auto entry = number_at<std::uint32_t>(&batch[64 + 4 * i]);
        const bool is_packed = entry >> 31 != 0;
        sections[i].assign(at, at + (entry & 0x7fffffff));
        at += entry & 0x7fffffff;
        packed[i] += is_packed ? 1 : 0;
        if (i == 4) originals = originals_of(sections[4], is_packed, plain_bytes[4] / 4);
        if (i == 4 || !is_packed) continue;
        Bytes unpacked(plain_bytes[i]);
        EXPECT_EQ(ZSTD_decompress(unpacked.data(), unpacked.size(), sections[i].data(),
                                  sections[i].size()),
                  unpacked.size());
        sections[i] = unpacked;
    }
    EXPECT_EQ(at, batch.data() + batch.size());
    std::vector<float> values;
    std::array<std::size_t, 3> taken{};
    std::size_t original = 0;
    for (const PageHead& head : heads) {
        for (std::size_t i = 0; i < head.elems; ++i) {
            int q = 0, lowest = 1;
            if (head.kind == 1) {
                const auto two = static_cast<int>(sections[0][taken[0] + i / 2]);
                q = ((i % 2 == 0 ? two & 15 : two >> 4) ^ 8) - 8;
                lowest = -8;
            } else if (head.kind == 2) {
                q = static_cast<std::int8_t>(sections[1][taken[1] + i]);
                lowest = -128;
            } else if (head.kind == 3) {
                q = static_cast<int>(sections[2][taken[2] + i]) +
                    256 * static_cast<std::int8_t>(sections[3][taken[2] + i]);
                lowest = -32768;
            }
            const bool is_original = head.kind == 4 || (head.scale < 0 && q == lowest);
            const float product = static_cast<float>(q) * std::abs(head.scale);
            values.push_back(is_original ? std::bit_cast<float>(originals[original++])
                                         : head.offset + product);
        }
        if (head.kind == 1) taken[0] += (head.elems + 1) / 2;
        if (head.kind == 2) taken[1] += head.elems;
        if (head.kind == 3) taken[2] += head.elems;
    }
    EXPECT_EQ(original, originals.size());
    return values;
}

// ---- what it is compared with

Codec codec_named(const std::string& name) {
    return codec_for(codec_from_name(name).value(), ElementType::f32).value();
}

Bytes plain_frame(const Codec& codec, const std::vector<float>& values) {
    Bytes frame(frame_header_bytes + values.size() * sizeof(float));
    write_plain_header(codec, values.size(), frame.data());
    std::memcpy(&frame[frame_header_bytes], values.data(), values.size() * sizeof(float));
    return frame;
}

std::vector<float> decoded_by_us(std::span<const std::byte> coded, std::size_t count) {
    Bytes room(frame_bytes);
    FrameCoder coder;
    const auto size = coder.decode(coded, room);
    EXPECT_TRUE(size.ok()) << size.status().message();
    std::vector<float> values(count);
    std::memcpy(values.data(), &room[frame_header_bytes], count * sizeof(float));
    return values;
}

/// Returns blocks of any kind: of several sizes, constant ones, zeros, values far out.
std::vector<float> values_of(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t block = i / 512;
        const float size = std::pow(10.0F, static_cast<float>((block + seed) % 7) - 3);
        values[i] = normal(random) * size;
        if (random() % 3 == 0) values[i] = 0;
        if (random() % 100 == 0) values[i] = normal(random) * 1e4F;
        if (block % 11 == 3) values[i] = 2.5F;
    }
    return values;
}

TEST(TwoStreams, ADecoderFromThePageAgrees) {
    std::array<int, 5> kinds{}, packed{};
    std::size_t batches = 0;
    for (const char* name : {"int8/abs=0.01", "int4/abs=0.1", "int16/abs=1e-4", "int/abs=0.003",
                             "int8/rel=0.01", "int/abs=1e-9", "int8", "int4", "int16"}) {
        const Codec codec = codec_named(name);
        FrameCoder coder;
        for (unsigned seed = 0; seed < 40; ++seed) {
            const std::vector<float> values =
                values_of(seed % 4 == 0 ? 20000 + 7 * seed : 32256, seed);
            const auto coded = coder.encode(plain_frame(codec, values), NicCoding::plain, for_ever);
            ASSERT_TRUE(coded.ok()) << coded.status().message();
            const std::vector<float> ours = decoded_by_us(*coded, values.size());
            const std::vector<float> unpacked = decoded_by_us(coder.encoded(), values.size());
            ASSERT_EQ(std::memcmp(ours.data(), unpacked.data(), 4 * ours.size()), 0);
            if (!TwoStreams::is_batch(*coded)) continue;
            ++batches;
            ASSERT_LT(coded->size(), coder.encoded().size());
            const std::vector<float> theirs =
                decoded_by_the_page(Bytes(coded->begin(), coded->end()), kinds, packed);
            ASSERT_EQ(theirs.size(), ours.size());
            for (std::size_t i = 0; i < ours.size(); ++i)
                ASSERT_EQ(std::bit_cast<std::uint32_t>(theirs[i]),
                          std::bit_cast<std::uint32_t>(ours[i]))
                    << name << ", element " << i;
        }
    }
    EXPECT_GT(batches, 150U);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_GT(kinds[i], 0) << "no block of kind " << i;
        EXPECT_GT(packed[i], 0) << "section " << i << " was never packed";
    }
}

TEST(TwoStreams, WorkedBytesOfThePage) {
    const Codec codec = codec_named("int8/abs=0.5");
    const std::vector<float> values = {1, -0.0F, 3, 1000, 0.25F, 0.5F, 2, 1.5F};
    const std::vector<unsigned> bytes = {
        0x47, 0x43, 0x54, 0x32, 4, 0, 8, 2, 2, 0, 0, 0, 0, 0, 0, 0,  // header
        8, 0, 0, 0, 0, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0,           // elements,
                                                                     // payload
        0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0,        // 0.5
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
        0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0,  // sections
        0x02, 0x08, 0x08, 0xf8, 0x7f, 0xbf, 0, 0, 0, 0,              // head
        0x01, 0x80, 0x03, 0x80, 0x00, 0x01, 0x02, 0x02,              // values
        0, 0, 0, 0x80, 0, 0, 0x7a, 0x44};                            // originals
    Bytes batch;
    for (const unsigned byte : bytes) batch.push_back(static_cast<std::byte>(byte));
    std::array<int, 5> kinds{}, packed{};
    const std::vector<float> theirs = decoded_by_the_page(batch, kinds, packed);
    EXPECT_EQ(theirs, decoded_by_us(batch, values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(theirs[i], values[i], 0.5F);
    FrameCoder coder;
    EXPECT_FALSE(TwoStreams::is_batch(
        coder.encode(plain_frame(codec, values), NicCoding::plain, for_ever).value()))
        << "so few values are not packed";
}

// ---- when

TEST(TwoStreams, NothingIsPackedWhileTheWireIsIdle) {
    FrameCoder coder;
    const Bytes plain = plain_frame(codec_named("int8/abs=0.01"), values_of(32256, 1));
    EXPECT_FALSE(TwoStreams::is_batch(coder.encode(plain, NicCoding::plain, 0).value()));
    EXPECT_TRUE(TwoStreams::is_batch(coder.encode(plain, NicCoding::plain, for_ever).value()));
}

TEST(TwoStreams, OtherCodecsStayMessages) {
    for (const char* name : {"bound/abs=0.01", "bf16", "2:4", "2:4+int8"}) {
        FrameCoder coder;
        const Bytes plain = plain_frame(codec_named(name), values_of(32256, 1));
        EXPECT_FALSE(TwoStreams::is_batch(coder.encode(plain, NicCoding::plain, for_ever).value()));
    }
}

TEST(TwoStreams, ASectionIsPackedWhereThatHasSavedBytesAndTime) {
    PackingPace pace;
    EXPECT_FALSE(pace.is_worth(100, for_ever)) << "too few bytes";
    EXPECT_TRUE(pace.is_worth(10000, for_ever)) << "nothing is known";
    pace.note(10000, 5000, 20000);
    EXPECT_TRUE(pace.is_worth(10000, 20001));
    EXPECT_FALSE(pace.is_worth(10000, 19000)) << "the wire would wait";
    for (int i = 0; i < 20; ++i) pace.note(10000, 9990, 20000);
    int tries = 0;
    for (int i = 0; i < 640; ++i)
        if (pace.is_worth(10000, for_ever)) {
            ++tries;
            pace.note(10000, 9990, 20000);
        }
    EXPECT_EQ(tries, 10) << "what saves nothing is tried now and then";
}

}  // namespace
}  // namespace gradcoll
