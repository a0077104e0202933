// The list of how long blocks are: what is written is read, and with what blocks save it is never
// longer than their elements.
#include "compress/block_lengths.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gradcoll {
namespace {

constexpr std::size_t plain = static_cast<std::size_t>(-1);

/// Returns the list for blocks of these `sizes`, or `plain`.
std::vector<std::byte> list_of(const std::vector<std::size_t>& sizes) {
    std::vector<std::byte> list(sizes.size() * block_length_bytes);
    const auto write = [&sizes](BlockLengthsWriter writer) {
        for (const std::size_t size : sizes)
            size == plain ? writer.add_plain() : writer.add_encoded(size);
        return writer.size_bytes();
    };
    const std::size_t bytes = write(BlockLengthsWriter(nullptr));
    EXPECT_LE(bytes, list.size());
    EXPECT_EQ(write(BlockLengthsWriter(list.data())), bytes);
    list.resize(bytes);
    return list;
}

std::vector<std::size_t> read(const std::vector<std::byte>& list) {
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < list.size(); at += block_length_bytes) {
        const BlockEntry entry = read_block_entry(list.data() + at);
        sizes.insert(sizes.end(), entry.is_plain_run ? entry.value : 1,
                     entry.is_plain_run ? plain : entry.value);
    }
    return sizes;
}

TEST(BlockLengths, HaveTheBytesThatTheReadmeShows) {
    const unsigned char expected[] = {10, 0, 0, 0, 2, 0, 0, 0x80, 3, 0, 0, 0};
    const std::vector<std::byte> list = list_of({10, plain, plain, 3});
    ASSERT_EQ(list.size(), sizeof expected);
    for (std::size_t i = 0; i < list.size(); ++i)
        EXPECT_EQ(list[i], static_cast<std::byte>(expected[i])) << i;
}

TEST(BlockLengths, NeverMakeAMessageLongerThanItsElements) {
    std::mt19937 random(3);
    for (int round = 0; round < 20'000; ++round) {
        const std::size_t block_bytes = 1024U << random() % 3;
        const auto part = random() % 5;  // of four blocks that is encoded
        std::vector<std::size_t> sizes(1 + random() % 300);
        std::size_t elements = 0, bytes = 0;
        bool has_encoded = false;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const bool is_last = i + 1 == sizes.size();
            const std::size_t whole = is_last ? 2 * (1 + random() % 512) : block_bytes;
            // As little as is worth it, most often.
            const std::size_t saved = 12 + (random() % 4 == 0 ? random() % 40 : 0);
            const bool is_encoded =
                random() % 4 < part && whole >= saved && saves_bytes(whole - saved, whole);
            sizes[i] = is_encoded ? whole - saved : plain;
            has_encoded |= is_encoded;
            elements += whole;
            bytes += is_encoded ? whole - saved : whole;
        }
        const std::vector<std::byte> list = list_of(sizes);
        EXPECT_EQ(read(list), sizes);
        if (has_encoded) bytes += list.size();
        ASSERT_LE(bytes, elements);
    }
}

TEST(BlockLengths, AreNotNeededWhereAllIsPlain) {
    BlockLengthsWriter writer(nullptr);
    writer.add_plain();
    writer.add_plain();
    EXPECT_FALSE(writer.has_encoded());
    writer.add_encoded(0);
    EXPECT_TRUE(writer.has_encoded());
}

}  // namespace
}  // namespace gradcoll
