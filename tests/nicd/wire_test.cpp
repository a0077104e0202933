// Frames between agents, and what agents prove with.
#include "nicd/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "nicd/proof.hpp"

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
