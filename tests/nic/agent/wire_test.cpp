// Frames between agents, and what agents prove with.
#include "nic/agent/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace gradcoll {
namespace {

TEST(LinkFrame, HasTheChecksumOfItsHeadAndBytes) {
    // RFC 3720, B.4: 32 bytes of zeros have the CRC32C 0x8a9136aa. A frame of zeros is two of them.
    LinkFrame zeros;
    std::memset(static_cast<void*>(&zeros), 0, sizeof zeros);
    const std::uint32_t of_head = crc_of(zeros, {});
    zeros.crc = 12345;
    EXPECT_EQ(crc_of(zeros, {}), of_head) << "the sum is not of itself";
    const std::vector<std::byte> bytes(1000, std::byte{7});
    const std::uint32_t of_all = crc_of(zeros, bytes);
    EXPECT_NE(of_all, of_head);
    std::mt19937 random(1);
    for (int round = 0; round < 1000; ++round) {
        std::vector<std::byte> damaged = bytes;
        damaged[random() % damaged.size()] ^=
            std::byte{static_cast<unsigned char>(1U << (random() % 8))};
        EXPECT_NE(crc_of(zeros, damaged), of_all);
    }
}

/// Returns the first hexadecimal block of a page: two digits a byte, and words behind them.
std::vector<std::byte> bytes_shown_in(const std::string& page) {
    std::vector<std::byte> bytes;
    std::ifstream file(page);
    bool is_inside = false;
    for (std::string line; std::getline(file, line) && (bytes.empty() || is_inside);) {
        if (line == "```") is_inside = !is_inside;
        std::istringstream words(line);
        for (std::string word; is_inside && words >> word && word.size() == 2 &&
                               word.find_first_not_of("0123456789abcdef") == std::string::npos;)
            bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
    }
    return bytes;
}

TEST(LinkFrame, IsOnItsPageByteForByte) {
    const std::vector<std::byte> shown = bytes_shown_in(GRADCOLL_TESTS_DIR "/../docs/nic.md");
    const float values[] = {1, 2};
    LinkFrame frame;
    frame.target = 2;
    frame.number = 1;
    frame.size_bytes = sizeof values;
    frame.note.kind = 1;  // FrameSays::whole, of the layer above
    frame.note.tag = 7;
    frame.note.id = 1;
    frame.note.size_bytes = sizeof values;
    frame.crc = crc_of(frame, std::as_bytes(std::span(values)));
    ASSERT_EQ(shown.size(), sizeof frame + sizeof values);
    EXPECT_EQ(std::memcmp(shown.data(), &frame, sizeof frame), 0);
    EXPECT_EQ(std::memcmp(shown.data() + sizeof frame, values, sizeof values), 0);
}

TEST(LinkFrame, IsRefusedWithAWrongMagicKindOrSize) {
    LinkFrame frame;
    frame.size_bytes = 100;
    EXPECT_TRUE(check_link_frame(frame, 100).ok());
    EXPECT_EQ(check_link_frame(frame, 99).code(), Code::corrupt);
    frame.kind = FrameKind::consumed;
    EXPECT_EQ(check_link_frame(frame, 100).code(), Code::corrupt) << "words have no bytes";
    frame.size_bytes = 0;
    for (const int kind : {0, 9, 255}) {
        frame.kind = static_cast<FrameKind>(kind);
        EXPECT_EQ(check_link_frame(frame, 100).code(), Code::corrupt) << kind;
    }
    frame = LinkFrame();
    frame.magic = 0;
    EXPECT_EQ(check_link_frame(frame, 100).code(), Code::corrupt);
}

TEST(NicProof, DependsOnTheSecretTheSideAndEverythingThatWasSaid) {
    NicGroupKey key;
    LinkIntroduction said;
    const NicProof first = *proof_of(key, LinkSide::accepted, said);
    EXPECT_TRUE(same_proof(first, *proof_of(key, LinkSide::accepted, said)));
    EXPECT_FALSE(same_proof(first, *proof_of(key, LinkSide::connected, said)));
    said.hello.to = 1;
    EXPECT_FALSE(same_proof(first, *proof_of(key, LinkSide::accepted, said)));
    said = LinkIntroduction();
    said.answer[31] = 1;
    EXPECT_FALSE(same_proof(first, *proof_of(key, LinkSide::accepted, said)));
    said = LinkIntroduction();
    key.secret[0] = 1;
    EXPECT_FALSE(same_proof(first, *proof_of(key, LinkSide::accepted, said)));
}

TEST(NicNonce, IsAnotherOneEachTime) {
    EXPECT_NE(*new_nonce(), *new_nonce());
}

}  // namespace
}  // namespace gradcoll
