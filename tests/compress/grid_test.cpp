// Whole numbers that are packed in as many bits as they need (compress/grid).
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compress/codec.hpp"
#include "compress/grid/grid_layout.hpp"

namespace gradcoll {
namespace {

using Words = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

std::vector<Codec> codecs() {
    std::vector<Codec> all;
    for (const InstructionSet set : all_instruction_sets)
        if (kernels_available(set))
            all.push_back(codec_for(CodecId::grid, ElementType::i64, set).value());
    return all;
}

Bytes encoded(const Codec& codec, const Words& words) {
    Bytes bytes(bound_bytes(CodecId::grid, sizeof(std::int64_t), words.size()));
    bytes.resize(codec.encode(words.data(), words.size(), bytes.data()));
    return bytes;
}

/// Returns words of up to `bits` bits with `zeros` zeros below.
Words random_words(std::mt19937_64& random, std::size_t count, unsigned bits, unsigned zeros) {
    Words words(count);
    for (auto& word : words) {
        const auto any = static_cast<std::int64_t>(random());
        const auto few = bits == 0 ? 0 : any >> (64 - bits);
        word = static_cast<std::int64_t>(static_cast<std::uint64_t>(few) << zeros);
    }
    return words;
}

std::vector<Words> vectors() {
    std::mt19937_64 random(3);
    std::vector<Words> all;
    for (unsigned bits = 0; bits <= 64; ++bits)
        for (const unsigned zeros : {0U, 1U, 17U, 63U})
            if (bits + zeros <= 64)
                all.push_back(random_words(random, 1 + random() % 1100, bits, zeros));
    for (std::size_t count = 1; count < 40; ++count)
        all.push_back(random_words(random, count, static_cast<unsigned>(random() % 65), 0));
    Words mixed;  // each word has a length of its own
    for (int i = 0; i < 5000; ++i)
        mixed.push_back(random_words(random, 1, static_cast<unsigned>(random() % 65), 0).front());
    all.push_back(mixed);
    all.push_back({-1});
    all.push_back({std::numeric_limits<std::int64_t>::min(), 0, -1,
                   std::numeric_limits<std::int64_t>::max()});
    return all;
}

TEST(Grid, GivesEveryWordBackWithEveryInstructionSet) {
    for (const Words& words : vectors()) {
        const Bytes expected = encoded(codecs().front(), words);
        ASSERT_LE(expected.size(), grid::bound_bytes(words.size()));
        for (const Codec& codec : codecs()) {
            ASSERT_EQ(encoded(codec, words), expected) << "instruction sets differ";
            Words back(words.size()), sum(words.size(), 5);
            ASSERT_TRUE(codec.decode(expected.data(), expected.size(), words.size(), back.data()));
            ASSERT_EQ(back, words);
            ASSERT_TRUE(codec.decode_sum(expected.data(), expected.size(), words.size(), sum.data(),
                                         sum.data()));
            for (std::size_t i = 0; i < words.size(); ++i)
                ASSERT_EQ(static_cast<std::uint64_t>(sum[i]),
                          static_cast<std::uint64_t>(words[i]) + 5);
        }
    }
}

TEST(Grid, HasTheBytesThatTheReadmeShows) {
    const Words words = {8, -8, 24, 0, 0, 0, 0, -32, 16, 40};
    const unsigned char right[] = {4, 3, 0x21, 0x5f, 0x03, 0x00, 0x00, 0x00, 0x00, 0x0c};
    const Bytes bytes = encoded(codecs().front(), words);
    ASSERT_EQ(bytes.size(), sizeof right);
    EXPECT_EQ(std::memcmp(bytes.data(), right, sizeof right), 0);
}

TEST(Grid, TakesAsManyBitsAsSixteenWordsNeed) {
    std::mt19937_64 random(4);
    Words words = random_words(random, 512, 33, 11);
    words[0] = std::int64_t{1} << 43;  // the first group needs one bit more for its sign
    const std::size_t bits = 8 * (encoded(codecs().front(), words).size() - 32 * 2);
    EXPECT_LE(bits, 512 * 33 + 16 + 63);
    EXPECT_GE(bits, 512 * 32);
    EXPECT_EQ(encoded(codecs().front(), Words(512)).size(), 64U) << "zeros take two bytes a group";
}

/// What a peer sends is refused, or decoded to something; nothing outside is touched (run under the
/// address sanitizer).
TEST(Grid, BytesOfAPeerAreNotBelieved) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 4000; ++i) {
        const std::size_t count = 1 + random() % 700;
        const Words words = random_words(random, count, static_cast<unsigned>(random() % 65), 0);
        Bytes bytes = encoded(codecs().front(), words);
        if (i % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
        if (i % 3 == 1) bytes.push_back(std::byte{1});
        if (i % 3 == 2 && !bytes.empty())
            bytes[random() % std::min<std::size_t>(bytes.size(), 64)] ^=
                static_cast<std::byte>(1 + random() % 255);
        const Bytes exactly(bytes.begin(), bytes.end());
        std::vector<bool> taken;
        for (const Codec& codec : codecs()) {
            Words out(count);
            taken.push_back(codec.decode(exactly.data(), exactly.size(), count, out.data()));
        }
        for (const bool one : taken) EXPECT_EQ(one, taken.front());
        if (i % 3 == 1) {
            EXPECT_FALSE(taken.front());
        }
    }
    const std::byte wide[] = {std::byte{60}, std::byte{5}};
    Words out(1);
    EXPECT_FALSE(codecs().front().decode(wide, sizeof wide, 1, out.data()));
}

TEST(Grid, NoSettingNamesIt) {
    EXPECT_FALSE(codec_from_name("grid").ok());
    EXPECT_EQ(name_of(CodecId::grid), "grid");
    EXPECT_FALSE(codec_supports(CodecId::grid, ElementType::f32));
}

}  // namespace
}  // namespace gradcoll
